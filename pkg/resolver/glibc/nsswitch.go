package glibc

import "strings"

// action is what the name service switch does after a status of a module.
type action int

const (
	goOn action = iota
	stop
	merge
)

// module is one service of the hosts line.
type module struct {
	name string
	// on is the action by status.
	on [4]action
	// missing is set for what cannot be a module: the words of a comment.
	missing bool
}

// Built-in orders (nss/nss_database.c; before 2.35 nss/nsswitch.c, DEFAULT_CONFIG for hosts).
const (
	filesThenDNS = "files dns"
	dnsThenFiles = "dns [!UNAVAIL=return] files"
)

// modules returns the services of the hosts database in order. ok is false when nsswitch.conf is so broken that glibc asks
// nothing at all.
func modules(text *string, f features) (list []module, ok bool) {
	line := filesThenDNS
	if !f.filesFirst {
		line = dnsThenFiles
	}
	if text == nil {
		return parseServices(line)
	}
	list, _ = parseServices(line)
	lines := *text
	if f.nssStrict {
		// nss_database_reload_1 drops what follows the last line end.
		lines = lines[:strings.LastIndexByte(lines, '\n')+1]
	}
	for raw := range strings.SplitSeq(lines, "\n") {
		raw, _, _ = strings.Cut(raw, "\x00")
		if !f.nssStrict {
			raw, _, _ = strings.Cut(raw, "#")
		}
		database, rest := cutDatabase(raw)
		services, parsed := parseServices(rest)
		switch {
		case database == "":
		case !parsed && f.nssStrict && knownDatabases[database]:
			return nil, false
		case database == "hosts" && parsed:
			list = services
		}
	}
	return list, true
}

// knownDatabases are those whose lines glibc parses (nss/databases.def); a mistake in any of them spoils the whole file.
var knownDatabases = map[string]bool{
	"aliases": true, "ethers": true, "group": true, "group_compat": true, "gshadow": true, "hosts": true, "initgroups": true,
	"netgroup": true, "networks": true, "passwd": true, "passwd_compat": true, "protocols": true, "publickey": true,
	"rpc": true, "services": true, "shadow": true, "shadow_compat": true,
}

// cutDatabase reads `database:` at the start of a line; the name is empty when there is none.
func cutDatabase(line string) (name, rest string) {
	line = strings.TrimLeft(line, cSpace)
	end := strings.IndexAny(line, cSpace+":")
	if end <= 0 {
		return "", ""
	}
	return line[:end], strings.TrimLeft(line[end:], cSpace+":")
}

// parseServices follows __nss_action_parse.
func parseServices(line string) (list []module, ok bool) {
	comment := false
	for {
		line = strings.TrimLeft(line, cSpace)
		end := strings.IndexAny(line, cSpace+"[")
		if end < 0 {
			end = len(line)
		}
		if end == 0 {
			return list, true
		}
		comment = comment || strings.HasPrefix(line, "#")
		m := module{name: line[:end], missing: comment}
		m.on[success] = stop
		line = strings.TrimLeft(line[end:], cSpace)
		if strings.HasPrefix(line, "[") {
			if line, ok = m.criteria(strings.TrimLeft(line[1:], cSpace)); !ok {
				return nil, false
			}
		}
		list = append(list, m)
	}
}

var statusNames = map[string]status{"success": success, "notfound": notFound, "unavail": unavail, "tryagain": tryAgain}

var actionNames = map[string]action{"return": stop, "continue": goOn, "merge": merge}

// criteria reads `STATUS=action ... ]` and returns what follows.
func (m *module) criteria(line string) (rest string, ok bool) {
	for {
		var not bool
		var word string
		line, not = strings.CutPrefix(line, "!")
		word, line = cutWord(line)
		st, known := statusNames[strings.ToLower(word)]
		line = strings.TrimLeft(line, cSpace)
		if !known || !strings.HasPrefix(line, "=") {
			return "", false
		}
		word, line = cutWord(strings.TrimLeft(line[1:], cSpace))
		act, known := actionNames[strings.ToLower(word)]
		if !known {
			return "", false
		}
		if not {
			saved := m.on[st]
			m.on = [4]action{act, act, act, act}
			m.on[st] = saved
		} else {
			m.on[st] = act
		}
		line = strings.TrimLeft(line, cSpace)
		if rest, ended := strings.CutPrefix(line, "]"); ended {
			return rest, true
		}
	}
}

func cutWord(line string) (word, rest string) {
	end := strings.IndexAny(line, cSpace+"=]")
	if end < 0 {
		end = len(line)
	}
	return line[:end], line[end:]
}
