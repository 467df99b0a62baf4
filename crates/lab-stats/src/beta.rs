// SPDX-License-Identifier: Apache-2.0
//! The incomplete beta function, from which the tails of Student's t and Fisher's F are computed.

/// Returns the regularized incomplete beta function at `x`, from 0 to 1.
///
/// `rest` is 1 - x. It is passed separately so that an `x` close to 1 loses no digits.
///
/// Source: Abramowitz & Stegun 26.5.8, with the continued fraction evaluated by Lentz's method.
pub fn incomplete_beta(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    if x <= 0.0 || rest <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    // The continued fraction converges fast here. For larger `x`, the complement's fraction does.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, rest, x);
    }
    let front = (a * logarithm(x, rest) + b * logarithm(rest, x) - log_beta(a, b)).exp() / a;
    let tiny = |value: f64| {
        if value.abs() < f64::MIN_POSITIVE {
            f64::MIN_POSITIVE
        } else {
            value
        }
    };
    let mut d = 1.0 / tiny(1.0 - (a + b) * x / (a + 1.0));
    let (mut c, mut fraction) = (1.0, d);
    for step in 1..10_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            d = 1.0 / tiny(1.0 + term * d);
            c = tiny(1.0 + term / c);
            fraction *= c * d;
        }
        if (fraction - before).abs() <= 1e-15 * fraction.abs() {
            break;
        }
    }
    front * fraction
}

/// Returns ln x. If `rest`, which is 1 - x, is smaller than x, computes ln x from `rest`.
fn logarithm(x: f64, rest: f64) -> f64 {
    if rest < 0.5 { (-rest).ln_1p() } else { x.ln() }
}

/// Returns the logarithm of the beta function.
///
/// A difference of large logarithms would lose digits, so a series is used instead.
fn log_beta(a: f64, b: f64) -> f64 {
    let (small, great) = (a.min(b), a.max(b));
    libm::lgamma(small) - log_gamma_growth(great, small)
}

/// Returns ln Γ(x + by) - ln Γ(x), where 0 <= by <= x.
///
/// Source: Stirling's series (Abramowitz & Stegun 6.1.41), term by term.
fn log_gamma_growth(x: f64, by: f64) -> f64 {
    if x < 20.0 {
        return libm::lgamma(x + by) - libm::lgamma(x);
    }
    let series = |x: f64| {
        let square = 1.0 / (x * x);
        (1.0 / 12.0
            - square
                * (1.0 / 360.0
                    - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0))))
            / x
    };
    let sum = x + by;
    (x - 0.5) * (by / x).ln_1p() + by * sum.ln() - by + series(sum) - series(x)
}
