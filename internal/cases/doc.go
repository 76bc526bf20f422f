// Package cases carries scenario files through the whole pipeline in virtual time, and says whether what came out is what the
// files expect. A folder of such files is the memory of incidents: each states what has to be said, and what would be wrong.
package cases
