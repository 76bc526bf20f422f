package dnsnet

import (
	"errors"
	"fmt"
)

// mapErr returns the error that resolvers tell apart, with the system's own words.
func mapErr(err error) error {
	for known, codes := range socketErrors {
		for _, code := range codes {
			if errors.Is(err, code) {
				return fmt.Errorf("%w (%w)", known, err)
			}
		}
	}
	return err
}
