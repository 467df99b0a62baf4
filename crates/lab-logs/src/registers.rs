// SPDX-License-Identifier: Apache-2.0
//! Processes bytes a register at a time, and prefetches memory.
//!
//! For short texts, a call to memchr costs more than it saves.

/// A word with 1 in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;
/// The number of bytes in a register.
const BLOCK: usize = 16;
/// The maximum number of digits in a number.
const MAX_DIGITS: usize = 19;

/// The number of bytes compared in one step, depending on the processor.
pub trait RegisterWidth: Copy {
    /// Returns a bit mask of the bytes that match a needle. The first byte has the lowest bit.
    fn matches<const N: usize>(self, block: &[u8; 2 * BLOCK], needles: [u8; N]) -> u32;
}

/// The register width that every processor of the architecture supports.
#[derive(Clone, Copy, Debug)]
pub struct Baseline;

impl RegisterWidth for Baseline {
    #[inline(always)]
    fn matches<const N: usize>(self, block: &[u8; 2 * BLOCK], needles: [u8; N]) -> u32 {
        let (low, high) = block.split_at(BLOCK);
        let [low, high] = [low, high].map(|half| matches(last_block(half).0, needles));
        low | high << BLOCK
    }
}

/// Proof that this processor supports AVX2. Only [`Avx2::new`] creates such a proof.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Returns `None` if the processor lacks AVX2 or another feature of the same processor
    /// generation.
    pub fn new() -> Option<Avx2> {
        let has_all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        has_all.then_some(Avx2(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl RegisterWidth for Avx2 {
    #[inline(always)]
    fn matches<const N: usize>(self, block: &[u8; 2 * BLOCK], needles: [u8; N]) -> u32 {
        use std::arch::x86_64::*;
        // SAFETY: an `Avx2` exists only if the processor supports AVX2. Both types are 32 bytes,
        // and any bit pattern is valid.
        unsafe {
            let block = std::mem::transmute::<[u8; 2 * BLOCK], __m256i>(*block);
            let mut any = _mm256_setzero_si256();
            for byte in needles {
                let hits = _mm256_cmpeq_epi8(block, _mm256_set1_epi8(byte.cast_signed()));
                any = _mm256_or_si256(any, hits);
            }
            _mm256_movemask_epi8(any).cast_unsigned()
        }
    }
}

/// Prefetches memory that will be read soon.
#[inline(always)]
pub fn fetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64. Nothing is read, and the address is valid because it comes
    // from a reference.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Returns the index of the first byte of `text` that is one of the needles. No needle may be 0.
#[inline(always)]
pub fn find<const N: usize>(
    width: impl RegisterWidth,
    needles: [u8; N],
    text: &[u8],
) -> Option<usize> {
    let mut offset = 0;
    while let Some(block) = text[offset..].first_chunk() {
        let hits = width.matches(block, needles);
        if hits != 0 {
            return Some(offset + hits.trailing_zeros() as usize);
        }
        offset += block.len();
    }
    find_in_short(needles, &text[offset..]).map(|index| offset + index)
}

/// Implements [`find`] for text that is shorter than a comparison step.
#[inline(never)]
fn find_in_short<const N: usize>(needles: [u8; N], text: &[u8]) -> Option<usize> {
    if let Some(block) = text.first_chunk() {
        let hits = matches(u128::from_le_bytes(*block), needles);
        if hits != 0 {
            return Some(hits.trailing_zeros() as usize);
        }
    }
    let (last, begin) = last_block(text);
    let hits = matches(last, needles);
    (hits != 0).then(|| begin + hits.trailing_zeros() as usize)
}

/// Returns true if a digit follows `byte` anywhere in `text`.
///
/// `byte` must not be 0.
#[inline]
pub fn has_digit_behind(byte: u8, text: &[u8]) -> bool {
    let mut before = 0;
    let mut has_pair = |block| {
        let hits = matches(block, [byte]);
        let is_pair = (hits << 1 | before) & digits(block) != 0;
        before = hits >> (BLOCK - 1);
        is_pair
    };
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let mut blocks = blocks.iter().map(|block| u128::from_le_bytes(*block));
    blocks.any(&mut has_pair) || has_pair(short_block(rest))
}

/// Returns the last bytes of `text` as a block, and the block's offset.
///
/// The block overlaps the previous block.
#[inline]
fn last_block(text: &[u8]) -> (u128, usize) {
    match text.last_chunk::<BLOCK>() {
        Some(last) => (u128::from_le_bytes(*last), text.len() - BLOCK),
        None => (short_block(text), 0),
    }
}

/// Returns a bit mask of the digits. The first byte has the lowest bit.
#[inline]
#[cfg(target_arch = "x86_64")]
fn digits(block: u128) -> u32 {
    use std::arch::x86_64::*;
    // SAFETY: SSE2 is part of x86-64. Both types are 16 bytes, and any bit pattern is valid.
    unsafe {
        let block = std::mem::transmute::<u128, __m128i>(block);
        let value = _mm_sub_epi8(block, _mm_set1_epi8(b'0'.cast_signed()));
        let digit = _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value);
        _mm_movemask_epi8(digit).cast_unsigned()
    }
}

/// Returns a bit mask of the digits. The first byte has the lowest bit.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
fn digits(block: u128) -> u32 {
    let bytes = block.to_le_bytes().into_iter().rev();
    bytes.fold(0, |bits, byte| bits << 1 | u32::from(byte.is_ascii_digit()))
}

/// Returns a bit mask of the bytes that match a needle. The first byte has the lowest bit.
#[inline]
#[cfg(target_arch = "x86_64")]
fn matches<const N: usize>(block: u128, needles: [u8; N]) -> u32 {
    use std::arch::x86_64::*;
    // SAFETY: SSE2 is part of x86-64. Both types are 16 bytes, and any bit pattern is valid.
    unsafe {
        let block = std::mem::transmute::<u128, __m128i>(block);
        let hits = needles.map(|byte| _mm_cmpeq_epi8(block, _mm_set1_epi8(byte.cast_signed())));
        let none = _mm_setzero_si128();
        let any = hits.into_iter().fold(none, |a, b| _mm_or_si128(a, b));
        _mm_movemask_epi8(any).cast_unsigned()
    }
}

/// Returns a bit mask of the bytes that match a needle. The first byte has the lowest bit.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
fn matches<const N: usize>(block: u128, needles: [u8; N]) -> u32 {
    let bytes = block.to_le_bytes().into_iter().rev();
    bytes.fold(0, |bits, byte| {
        bits << 1 | u32::from(needles.contains(&byte))
    })
}

/// Returns `text`, which must be shorter than a block, padded with zeros.
#[inline]
fn short_block(text: &[u8]) -> u128 {
    let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) else {
        return first_word(text).into();
    };
    // The two words overlap.
    let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    u128::from(first) | u128::from(last) << (8 * (text.len() - 8))
}

/// Parses the digits at the beginning of `text`. Returns the number and the number of digits.
///
/// Returns `None` if there are no digits or too many digits.
#[inline(always)]
pub fn leading_number(text: &[u8]) -> Option<(u64, usize)> {
    let (value, n) = eight_digits(first_word(text));
    match n {
        0 => None,
        8 => long_number(text, value),
        n => Some((value, n)),
    }
}

/// Parses a number of eight digits or more.
#[cold]
fn long_number(text: &[u8], first_eight: u64) -> Option<(u64, usize)> {
    let more = text[8..].iter().take_while(|b| b.is_ascii_digit());
    let (value, n) = more.fold((first_eight, 8), |(value, n): (u64, usize), digit| {
        let digit = u64::from(digit - b'0');
        (value.wrapping_mul(10).wrapping_add(digit), n + 1)
    });
    (n <= MAX_DIGITS).then_some((value, n))
}

/// Parses the digits at the beginning of a word. Returns the number and the number of digits.
///
/// Source: Lemire, *Number Parsing at a Gigabyte per Second*, Software: Practice and Experience 51,
/// 2021, 4.
#[inline]
fn eight_digits(word: u64) -> (u64, usize) {
    let values = word ^ (EACH * u64::from(b'0'));
    // Sets the highest bit of each byte above 9, and possibly of bytes after such a byte.
    let others = (values.wrapping_add(EACH * (0x7f - 9)) | values) & (EACH << 7);
    let n = others.trailing_zeros() / 8;
    // Leading zeros extend the digits to eight.
    let digits = values.checked_shl(64 - 8 * n).unwrap_or(0);
    let pairs = (digits.wrapping_mul(10 * 256 + 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100 * 65_536 + 1) >> 16) & 0x0000_ffff_0000_ffff;
    let value = fours.wrapping_mul((10_000 << 32) + 1) >> 32;
    (value, n as usize)
}

/// Returns the first eight bytes as a little-endian word. Missing bytes are 0.
#[inline]
pub fn first_word(text: &[u8]) -> u64 {
    if let Some(eight) = text.first_chunk() {
        return u64::from_le_bytes(*eight);
    }
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        // The words overlap if the text has fewer than eight bytes.
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return u64::from(first) | u64::from(last) << (8 * (text.len() - 4));
    }
    let (Some(first), Some(last)) = (text.first(), text.last()) else {
        return 0;
    };
    // The positions coincide if the text has fewer than three bytes.
    let (middle, end) = (text.len() / 2, text.len() - 1);
    u64::from(*first) | u64::from(text[middle]) << (8 * middle) | u64::from(*last) << (8 * end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Generates byte strings in which digits and the needles are frequent.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            prop::sample::select(b"0123456789".to_vec()),
            prop::sample::select(b"?;#\"/:!\x80\xff\0".to_vec()),
            any::<u8>()
        ];
        prop::collection::vec(byte, 0..100)
    }

    proptest! {
        #[test]
        fn the_first_match_is_found(text in text()) {
            let first = |needles: &[u8]| text.iter().position(|b| needles.contains(b));
            prop_assert_eq!(find(Baseline, [b'"'], &text), first(b"\""));
            prop_assert_eq!(find(Baseline, [b'?', b';', b'#'], &text), first(b"?;#"));
            prop_assert_eq!(find(Baseline, [0xff, 0x80], &text), first(b"\xff\x80"));
            #[cfg(target_arch = "x86_64")]
            if let Some(wide) = Avx2::new() {
                prop_assert_eq!(find(wide, [b'"'], &text), first(b"\""));
                prop_assert_eq!(find(wide, [0xff, 0x80], &text), first(b"\xff\x80"));
            }
        }

        #[test]
        fn a_word_has_the_first_eight_bytes(text in text()) {
            let bytes = text.iter().take(8).rev();
            let word = bytes.fold(0, |word, byte| word << 8 | u64::from(*byte));
            prop_assert_eq!(first_word(&text), word);
        }

        #[test]
        fn pairs_are_found_at_any_offset(text in text()) {
            let is_pair = |pair: &[u8]| pair[0] == b'/' && pair[1].is_ascii_digit();
            prop_assert_eq!(has_digit_behind(b'/', &text), text.windows(2).any(is_pair));
        }

        #[test]
        fn numbers_match_their_digits(number in any::<u64>(), digits in 1..20_usize, behind in text()) {
            let number = number % 10_u64.pow(digits as u32);
            let digits = format!("{number:0digits$}").into_bytes();
            let begins_with_digit = behind.first().is_some_and(u8::is_ascii_digit);
            let text = [&digits[..], &behind].concat();
            if !begins_with_digit {
                prop_assert_eq!(leading_number(&text), Some((number, digits.len())));
            }
        }

        #[test]
        fn digits_are_counted(text in text()) {
            let n = text.iter().take_while(|b| b.is_ascii_digit()).count();
            let counted = leading_number(&text).map(|(_, n)| n);
            prop_assert_eq!(counted, (1..=MAX_DIGITS).contains(&n).then_some(n));
        }
    }
}
