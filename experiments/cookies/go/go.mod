module benchlab/cookies

go 1.25.0

require benchlab/lab v0.0.0

replace benchlab/lab => ../../../kits/go
