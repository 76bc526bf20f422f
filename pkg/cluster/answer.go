package cluster

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// answer is what the API server said when it was asked for something.
type answer[T any] struct {
	// value is what it has, the zero value with an error.
	value T
	err   error
	// need is the permission without which it does not say, namespace where that is needed.
	need      Permission
	namespace string
}

// asked keeps what came of a question.
func asked[T any](need Permission, namespace string, value T, err error) answer[T] {
	a := answer[T]{err: err, need: need, namespace: namespace}
	if err == nil {
		a.value = value
	}
	return a
}

// missing says whether it is known that there is no such object.
func (a answer[T]) missing() bool { return apierrors.IsNotFound(a.err) }

// unknown says why the answer is not known, in a sentence.
func (a answer[T]) unknown() string {
	switch {
	case a.err == nil:
		return ""
	case apierrors.IsForbidden(a.err):
		return "you may not " + a.need.at(a.namespace) + "; that permission would tell"
	case errors.Is(a.err, context.DeadlineExceeded):
		return "the API server did not answer in time when it was asked to " + a.need.at(a.namespace)
	case errors.Is(a.err, context.Canceled):
		return "the run ended before the API server had answered"
	}
	return a.need.at(a.namespace) + ": " + printable.Text(a.err.Error(), maxReason)
}

// fact is an unknown fact with the reason.
func (a answer[T]) fact(source string) probe.Fact {
	return probe.Fact{Unknown: a.unknown(), Source: source}
}

// The bounds of what is taken from the API server into facts.
const (
	// maxReason bounds an error of the API server, in bytes.
	maxReason = 300
	// maxConfig bounds a Corefile, in bytes: those of large clusters have a few KiB.
	maxConfig = 64 << 10
	// maxListed bounds the lines of a list.
	maxListed = 50
	// maxValue bounds other values, in bytes.
	maxValue = 4 << 10
)

// bounded cuts a value at a bound, and says so in the source.
func bounded(value, source string, most int) probe.Fact {
	if len(value) > most {
		return probe.Fact{Value: value[:most], Source: source + ", cut off after " + count(most>>10, "KiB", "KiB")}
	}
	return probe.Fact{Value: value, Source: source}
}
