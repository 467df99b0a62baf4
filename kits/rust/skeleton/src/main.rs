//! The subject in Rust. benchlab starts it and sends it commands.

use lab_kit::{Closed, Failure, Opening, Subject, Work};

/// The case `hash`: the FNV-1a hash of n bytes.
fn hash(opening: Opening) -> Result<Closed, Failure> {
    // This prepares the case, and is not timed.
    let size = opening.integer("n", 1..=1 << 20)? as usize;
    let inputs: Vec<u8> = opening
        .inputs()
        .first(4096)
        .map(|value| value as u8)
        .collect();
    let mut data: Vec<u8> = inputs.iter().copied().cycle().take(size).collect();
    Ok(opening.serve(move |operations| {
        // This does the operations, and is timed.
        let mut work = Work::default();
        for k in 0..operations as usize {
            data[0] = inputs[k % inputs.len()];
            let add = |sum: u32, byte: &u8| (sum ^ u32::from(*byte)).wrapping_mul(16_777_619);
            let sum = data.iter().fold(2_166_136_261, add);
            // The number of bytes, and the value that the work produced: the same in all subjects.
            work.add(size as u64, i64::from(sum));
        }
        Ok(work)
    }))
}

fn main() -> std::io::Result<()> {
    Subject::new("{{subject}}", "FNV-1a")
        .case("hash", hash)
        .serve()
}
