// Package target reads what the resolver of the target's own process reads: its files, its environment, its libc. It runs
// where that process can be seen: in a container that shares the target's process namespace, or on this machine.
//
// What cannot be read is replaced by what is nearest to it and named as unknown; nothing is silently assumed. Everything in
// the target is hostile: sizes are bounded, links stay inside the target's root, and no content makes it fail.
package target
