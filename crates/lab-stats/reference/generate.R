# SPDX-License-Identifier: Apache-2.0
# Prints R's results for the estimators of lab-stats, one value or list per line: "name key=value : numbers".

line <- function(.name, .numbers, ...) {
  keys <- list(...)
  words <- c(.name, if (length(keys)) paste0(names(keys), "=", keys))
  cat(words, ":", sprintf("%.17g", .numbers), "\n")
}

set.seed(1)

for (n in c(1, 2, 5, 10, 40, 80, 150, 200))
  for (part in c(0, 0.1, 0.3, 0.5, 0.9, 1)) {
    t <- floor(part * n * (n + 1) / 2)
    line("psignrank", psignrank(t, n), n = n, t = t)
  }

# lab-stats uses the normal approximation above 200. R uses the exact distribution there, too.
for (n in c(250, 400))
  for (z in c(-3, -2, -1, 0, 1)) {
    t <- floor(n * (n + 1) / 4 + z * sqrt(n * (n + 1) * (2 * n + 1) / 24))
    line("psignrank_large", psignrank(t, n), n = n, t = t)
  }

samples <- list(
  rnorm(6, 0.3), rnorm(9, 0.01, 0.02), rnorm(10, -0.5), rt(20, 2), rexp(33), rcauchy(49),
  rnorm(80, 0.05, 0.3))

for (id in seq_along(samples)) {
  x <- samples[[id]]
  n <- length(x)
  line("sample", x, id = id)
  for (alpha in c(0.05, 0.05 / 4)) {
    w <- wilcox.test(x, exact = TRUE, conf.int = TRUE, conf.level = 1 - alpha)
    rank <- max(qsignrank(alpha / 2, n), 1)
    level <- 1 - 2 * psignrank(rank - 1, n)
    line("wilcox", c(w$estimate, w$conf.int, level, w$p.value), id = id, alpha = alpha)
    # The order-statistic interval, from the binomial quantile.
    k <- max(qbinom(alpha / 2, n, 0.5), 1)
    s <- sort(x)
    line("median", c(median(x), s[k], s[n + 1 - k], 1 - 2 * pbinom(k - 1, n, 0.5)),
         id = id, alpha = alpha)
  }
  # Repeating each value four times makes every quarter a whole number of values.
  line("midmean", mean(rep(x, each = 4), trim = 0.25), id = id)
  line("acf1", acf(x, lag.max = 1, plot = FALSE)$acf[2], id = id)
}

for (x in list(c(1, 10, 100, 500, 1000), c(1, 10, 100, 1000), c(1, 2), c(2, 2, 7, 9))) {
  time <- (1500 + 110 * x) * exp(rnorm(length(x), 0, 0.03))
  fit <- lm(time ~ x, weights = 1 / time^2)
  line("fit_x", x)
  line("fit_time", time)
  line("fit", c(coef(fit), residuals(fit) / time))
}

for (tail in c(0.2, 0.025, 0.00625, 0.0001)) {
  line("qnorm", qnorm(1 - tail), tail = tail)
  for (df in c(1, 2, 3, 4, 9, 10, 79, 200))
    line("qt", qt(tail, df, lower.tail = FALSE), tail = tail, df = df)
}

# Degrees of freedom may be fractional.
for (tail in c(0.4, 0.025, 1e-4, 1e-6, 1e-9))
  for (df in c(0.7, 1.37, 2.3, 4.87, 17.5, 63.2, 250, 1e4, 1e6)) {
    t <- qt(tail, df, lower.tail = FALSE)
    line("qt", t, tail = tail, df = df)
    line("pt", pt(t / 2, df, lower.tail = FALSE), t = sprintf("%.17g", t / 2), df = df)
  }

# Two samples of unpaired values.
for (size in list(c(1, 1), c(2, 5), c(5, 2), c(10, 10), c(6, 40), c(49, 49), c(64, 64), c(8, 300)))
  for (part in c(0, 0.1, 0.3, 0.4, 0.5, 0.9, 1)) {
    t <- floor(part * size[1] * size[2])
    line("pwilcox", pwilcox(t, size[1], size[2]), m = size[1], n = size[2], t = t)
  }

# The normal approximation is used if the exact distribution would need more than 128 bits.
for (size in list(c(66, 66), c(40, 120)))
  for (z in c(-3, -2, -1, 0, 1)) {
    t <- floor(prod(size) / 2 + z * sqrt(prod(size) * (sum(size) + 1) / 12))
    line("pwilcox_large", pwilcox(t, size[1], size[2]), m = size[1], n = size[2], t = t)
  }

lots <- list(
  list(rnorm(4), rnorm(4, 1)), list(rnorm(10, 0, 0.01), rnorm(10, 0.02, 0.01)),
  list(rnorm(8, 0.3), rnorm(21, 0.1, 2)), list(rcauchy(40), rcauchy(12)), list(rexp(3), rexp(2)),
  list(rnorm(49, 0.05, 0.3), rt(45, 2)))

for (id in seq_along(lots)) {
  a <- lots[[id]][[1]]
  b <- lots[[id]][[2]]
  line("first", a, id = id)
  line("second", b, id = id)
  for (alpha in c(0.05, 0.05 / 4)) {
    w <- wilcox.test(b, a, exact = TRUE, conf.int = TRUE, conf.level = 1 - alpha)
    rank <- max(qwilcox(alpha / 2, length(b), length(a)), 1)
    level <- 1 - 2 * pwilcox(rank - 1, length(b), length(a))
    line("wilcox2", c(w$estimate, w$conf.int, level, w$p.value), id = id, alpha = alpha)
  }
}

# The Universal Scalability Law, with the relative residuals of the time n / X and both coefficients
# at least 0. The first throughputs are those of the SPEC SDM91 benchmark, published with N. Gunther's
# Guerrilla Capacity Planning (2007) and in R's package usl (data set specsdm91); `usl_published` is
# the result of that package for them, with the residuals of X itself: sigma 0.0277, kappa 0.000104.
throughputs <- list(
  list(n = c(1, 18, 36, 72, 108, 144, 216), x = c(64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775, 1702.2)),
  list(n = c(1, 2, 4, 8, 16, 32), x = c(1010, 1890, 3300, 4700, 5100, 4100)),
  list(n = c(1, 2, 4, 8, 16, 32), x = c(1000, 1650, 2480, 3190, 3900, 4600)),
  list(n = c(1, 2, 4, 8), x = c(1000, 2030, 3900, 7000)))
for (id in seq_along(throughputs)) {
  d <- data.frame(n = throughputs[[id]]$n, x = throughputs[[id]]$x)
  line("usl_n", d$n, id = id)
  line("usl_x", d$x, id = id)
  fit <- nls(n / x ~ (1 + s * (n - 1) + k * n * (n - 1)) / g, d, weights = (x / n)^2,
             start = list(g = d$x[1], s = 0.01, k = 1e-3), algorithm = "port", lower = c(0, 0, 0),
             control = nls.control(tol = 1e-12, scaleOffset = 1))
  line("usl", coef(fit), id = id)
  if (id == 1)
    line("usl_published", coef(nls(x ~ g * n / (1 + s * (n - 1) + k * n * (n - 1)), d,
                                   start = list(g = 65, s = 0.02, k = 1e-4))), id = id)
}
