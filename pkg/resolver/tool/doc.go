// Package tool follows tools that people test DNS with and that call no libc: dig, and nslookup of busybox. They have walks, retries
// and messages of their own. Source: their packets, recorded with BIND dig 9.18.49 and busybox 1.35.0.
package tool
