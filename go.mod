module github.com/kubectl-dnsprobe/kubectl-dnsprobe

go 1.26.0
