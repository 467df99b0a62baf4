module benchlab/lab

go 1.25.0
