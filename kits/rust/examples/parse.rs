// SPDX-License-Identifier: Apache-2.0
//! A subject with one case that parses texts as numbers. `open case=parse most=999 seed=7` opens the case.

use lab_kit::{Closed, Failure, Opening, Subject, Work};

fn parse(mut opening: Opening) -> Result<Closed, Failure> {
    let most = opening.integer("most", 1..=u32::MAX)?;
    let texts: Vec<String> = opening
        .inputs()
        .first(4096)
        .map(|value| (value % (u64::from(most) + 1)).to_string())
        .collect();
    opening.setting("longest", texts.iter().map(String::len).max().unwrap_or(0));
    Ok(opening.serve(|operations| {
        let mut work = Work::default();
        for text in texts.iter().cycle().take(operations as usize) {
            work.add(1, text.parse::<i64>()?);
        }
        Ok(work)
    }))
}

fn main() -> std::io::Result<()> {
    println!("Log lines may come before the first reply.");
    Subject::new("parse", "core 1.0")
        .case("parse", parse)
        .serve()
}
