package ephemeral

import (
	"crypto/rand"
	"strings"
)

// RandomName returns a new name for a probe's container. Kubernetes names are lower case; five characters are what it uses itself.
func RandomName() string {
	return NamePrefix + strings.ToLower(rand.Text()[:5])
}
