// Package e2e tests the whole path in real pods: a real kubectl with the plugin on PATH, against the test cluster (booted when it
// is not up), or against the cluster that KUBECONFIG names, which must then have the workloads of test/cluster and an agent image that
// DNSPROBE_IMAGE names.
//
// Packets of applications are read, and packets lost, only on the test cluster, whose node is this machine.
//
// The tests carry the build tag e2e.
package e2e
