// Package arch holds no code: its tests keep the rooms of the tree apart (who may import whom) and check the house rules that
// no linter knows.
package arch
