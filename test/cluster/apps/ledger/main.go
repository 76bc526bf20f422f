// Command ledger is the backend of the two Services named ledger: it accepts TCP connections on the
// address given (default :8080) and says who it is.
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	address := ":8080"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	name, err := os.Hostname()
	if err != nil {
		fmt.Fprintf(os.Stderr, "ledger: read the host name: %v\n", err)
		os.Exit(1)
	}
	server := &http.Server{
		Addr:              address,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "ledger on %s\n", name)
		}),
	}
	fmt.Fprintf(os.Stderr, "ledger: %v\n", server.ListenAndServe())
	os.Exit(1)
}
