// SPDX-License-Identifier: Apache-2.0
//! The division of the machine's cores between a server and the load generator.

use lab_plan::Schedule;

/// The cores of the server and the generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The server's cores.
    pub server: Vec<usize>,
    /// The generator's cores. They overlap with the server's cores only if there is a single core.
    pub generator: Vec<usize>,
}

impl Split {
    /// Returns the split for a block. The server and the generator get half of the cores each, and
    /// the halves rotate from block to block.
    ///
    /// With an odd number of cores, the server gets the extra core.
    pub fn new(cores: &[usize], seed: u64, block: u32) -> Split {
        let mut turned = cores.to_vec();
        turned.rotate_left(Schedule::new(seed, block).core(cores.len()));
        match generator_cores(cores.len()) {
            0 => Split {
                server: turned.clone(),
                generator: turned,
            },
            generator => Split {
                generator: turned.split_off(turned.len() - generator),
                server: turned,
            },
        }
    }
}

/// Returns the number of cores that are reserved for the generator.
fn generator_cores(cores: usize) -> usize {
    cores / 2
}

/// Returns the number of threads of the generator: one for each of its cores, and at least 1.
pub fn generator_threads(cores: usize) -> usize {
    generator_cores(cores).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_and_generator_share_only_a_single_core() {
        for count in 2..9 {
            let cores: Vec<usize> = (4..4 + count).collect();
            for block in 0..20 {
                let Split {
                    mut server,
                    generator,
                } = Split::new(&cores, 7, block);
                assert!(server.len() == generator.len() || server.len() == generator.len() + 1);
                assert_eq!(generator.len(), generator_threads(count));
                server.extend(generator);
                server.sort_unstable();
                assert_eq!(server, cores);
            }
        }
        let alone = Split::new(&[3], 7, 0);
        assert_eq!((alone.server, alone.generator), (vec![3], vec![3]));
    }

    #[test]
    fn they_swap_cores_from_block_to_block() {
        let [first, second] = [0, 1].map(|block| Split::new(&[0, 1], 7, block));
        assert_eq!(
            (first.server, first.generator),
            (second.generator, second.server)
        );
    }
}
