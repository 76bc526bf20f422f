// Package entry holds cases of the way into a pod against what they expect. Such a case has no trace: it states a pod, its
// namespace, and what the API server and its admission plugins allow. What pkg/ephemeral makes of it is judged: it enters within
// those limits, or says what it was refused, and never a word about DNS.
package entry
