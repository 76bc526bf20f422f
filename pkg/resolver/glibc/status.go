package glibc

// status is an NSS module's status (enum nss_status).
type status int

const (
	success status = iota
	notFound
	unavail
	tryAgain
)

// hostErr is h_errno (netdb.h).
type hostErr int

const (
	hostOK hostErr = iota
	hostNotFound
	hostTryAgain
	hostNoRecovery
	hostNoData
	// hostInternal is NETDB_INTERNAL: errno says what failed.
	hostInternal
)

// errno is what C leaves in errno, as far as something looks at it.
type errno int

const (
	errnoNone errno = iota
	errnoRefused
	errnoTimedOut
	errnoMsgSize
	errnoReset
	errnoRange
	errnoNoEntry
	errnoOther
)

// eai is an error of getaddrinfo; empty is success.
type eai string

const (
	eaiOK         eai = ""
	eaiNoName     eai = "EAI_NONAME"
	eaiAgain      eai = "EAI_AGAIN"
	eaiNoData     eai = "EAI_NODATA"
	eaiSystem     eai = "EAI_SYSTEM"
	eaiAddrFamily eai = "EAI_ADDRFAMILY"
	eaiFamily     eai = "EAI_FAMILY"
	eaiIDN        eai = "EAI_IDN_ENCODE"
)
