// SPDX-License-Identifier: Apache-2.0
//! Costs by function and line, as recorded by Cachegrind and Callgrind.

use crate::ProfileError;
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// The maximum number of distinct names, functions, lines and calls in a file.
const MAX_ENTRIES: usize = 1 << 24;
/// The maximum total length of all names in bytes.
const MAX_NAME_BYTES: usize = 1 << 30;
/// The maximum number of events in a file. Valgrind has fewer than twenty.
const MAX_EVENTS: usize = 64;

/// Names for sums of events, each with the events that are added up.
const SUMS: [(&str, &[&str]); 5] = [
    ("I1", &["I1mr"]),
    ("D1", &["D1mr", "D1mw"]),
    ("LL", &["ILmr", "DLmr", "DLmw"]),
    ("D", &["Dr", "Dw"]),
    ("mispredicts", &["Bcm", "Bim"]),
];

/// The costs of a program.
#[derive(Clone, Debug, Default)]
pub struct CostProfile {
    /// The command line of the profiled program.
    pub command: String,
    /// The file's description, such as `I1 cache: 32768 B, 64 B, 8-way associative`.
    pub description: Vec<String>,
    /// The names of the events, such as `Ir`.
    pub events: Vec<String>,
    /// The program's total costs by event, as stated in the file.
    pub totals: Vec<u64>,
    /// The costs of the first event in code without symbols, by object. Cachegrind does not record objects.
    unnamed: BTreeMap<u32, u64>,
    /// The total costs of the first event, by object.
    objects: BTreeMap<u32, u64>,
    names: NumberedNames,
    functions: CostSums<FunctionKey>,
    /// Costs by function and line.
    lines: CostSums<(u32, u32)>,
    calls: CostSums<(u32, u32)>,
    call_counts: Vec<u64>,
}

/// The indexes of a file name and a function name. As in `callgrind_annotate`, the object is not part of the key.
type FunctionKey = (u32, u32);

/// A function and its self costs.
#[derive(Clone, Copy, Debug)]
pub struct Function<'p> {
    /// The source file, or `???` if unknown. For inlined code, this is the file that contains the inlined code.
    pub file: &'p str,
    /// The function's name.
    pub name: &'p str,
    /// Costs by event.
    pub costs: &'p [u64],
}

/// A source line and its self costs.
#[derive(Clone, Copy, Debug)]
pub struct LineCosts<'p> {
    /// The source file.
    pub file: &'p str,
    /// The function that contains the line, or into which it was inlined.
    pub function: &'p str,
    /// The line number, starting at 1, or 0 if unknown.
    pub number: u32,
    /// Costs by event.
    pub costs: &'p [u64],
}

/// All calls from one function to another.
#[derive(Clone, Copy, Debug)]
pub struct Call<'p> {
    /// The caller's file and name.
    pub caller: (&'p str, &'p str),
    /// The callee's file and name.
    pub callee: (&'p str, &'p str),
    /// The number of calls.
    pub count: u64,
    /// Inclusive costs, by event.
    pub costs: &'p [u64],
}

impl CostProfile {
    /// Creates a profile for these events. Returns an error if there are no events, or more than
    /// [`MAX_EVENTS`] events.
    pub(crate) fn with_events(words: &[&[u8]]) -> Result<CostProfile, String> {
        if !(1..=MAX_EVENTS).contains(&words.len()) {
            let most = MAX_EVENTS;
            return Err(format!("there are {} events, not 1 to {most}", words.len()));
        }
        let events: Vec<String> = words.iter().map(|word| crate::lines::text(word)).collect();
        Ok(CostProfile {
            totals: vec![0; events.len()],
            functions: CostSums::new(events.len()),
            lines: CostSums::new(events.len()),
            calls: CostSums::new(events.len()),
            events,
            ..CostProfile::default()
        })
    }

    /// Returns the index of a name. Adds the name if it is new.
    pub(crate) fn name(&mut self, name: &[u8]) -> Result<u32, ProfileError> {
        self.names.number(name)
    }

    /// Returns the index of a function in a file. Adds the function if it is new.
    pub(crate) fn function(&mut self, file: u32, name: u32) -> Result<u32, ProfileError> {
        self.functions.slot((file, name), "functions")
    }

    /// Adds costs to a line of a function. [`sum_lines`](Self::sum_lines) later adds them to the function.
    #[inline]
    pub(crate) fn add(
        &mut self,
        function: u32,
        line: u32,
        costs: &[u64],
    ) -> Result<(), ProfileError> {
        let line = self.lines.slot((function, line), "lines")?;
        self.lines.add(line, costs);
        Ok(())
    }

    /// Sets the costs of each function to the sum of its lines.
    pub(crate) fn sum_lines(&mut self) {
        self.functions.sums.fill(0);
        for (line, (function, _)) in self.lines.keys.iter().enumerate() {
            self.functions.add(*function, self.lines.costs(line as u32));
        }
    }

    /// Adds calls with their inclusive costs.
    pub(crate) fn add_calls(
        &mut self,
        caller: u32,
        callee: u32,
        count: u64,
        costs: &[u64],
    ) -> Result<(), ProfileError> {
        let call = self.calls.slot((caller, callee), "calls")?;
        self.calls.add(call, costs);
        self.call_counts.resize(self.calls.keys.len(), 0);
        let counted = &mut self.call_counts[call as usize];
        *counted = counted.saturating_add(count);
        Ok(())
    }

    /// Adds a cost of the first event to an object's code without symbols.
    pub(crate) fn add_unnamed(&mut self, object: u32, cost: u64) {
        let sum = self.unnamed.entry(object).or_default();
        *sum = sum.saturating_add(cost);
    }

    /// Adds a cost of the first event to an object.
    pub(crate) fn add_to_object(&mut self, object: u32, cost: u64) {
        let sum = self.objects.entry(object).or_default();
        *sum = sum.saturating_add(cost);
    }

    /// Returns true if a name is a symbol rather than a placeholder for an unknown function.
    pub(crate) fn is_symbol(&self, name: u32) -> bool {
        crate::names::has_symbol(self.names.get(name))
    }

    /// Returns the cost of the first event in each object's code without symbols, highest first. Empty for Cachegrind.
    pub fn unnamed(&self) -> Vec<(&str, u64)> {
        self.sort_by_cost(&self.unnamed)
    }

    /// Returns the self cost of the first event for each object (the program or a library), highest first.
    ///
    /// The result is empty for Cachegrind.
    pub fn objects(&self) -> Vec<(&str, u64)> {
        self.sort_by_cost(&self.objects)
    }

    fn sort_by_cost(&self, costs: &BTreeMap<u32, u64>) -> Vec<(&str, u64)> {
        let named = costs.iter();
        let named = named.map(|(object, cost)| (self.names.get(*object), *cost));
        let mut named: Vec<(&str, u64)> = named.collect();
        named.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        named
    }

    /// Returns the index of an event.
    pub fn event(&self, name: &str) -> Option<usize> {
        self.events.iter().position(|event| event == name)
    }

    /// Returns the cost of an event, or of a sum of events such as `D1`. Returns `None` if an event was not recorded.
    pub fn value(&self, event: &str, costs: &[u64]) -> Option<u64> {
        if let Some(index) = self.event(event) {
            return costs.get(index).copied();
        }
        let (_, parts) = SUMS.iter().find(|(name, _)| *name == event)?;
        let recorded = parts.iter().filter_map(|part| self.event(part));
        let recorded: Vec<usize> = recorded.collect();
        let sum = recorded.iter().map(|&index| costs[index]);
        (recorded.len() == parts.len()).then(|| sum.fold(0, u64::saturating_add))
    }

    /// Returns the program's total cost for an event or a sum of events.
    pub fn total_of(&self, event: &str) -> Option<u64> {
        self.value(event, &self.totals)
    }

    /// Adds up the costs of all functions.
    pub fn summed(&self) -> Vec<u64> {
        let mut sum = vec![0u64; self.events.len()];
        for function in self.functions() {
            add(&mut sum, function.costs);
        }
        sum
    }

    /// Returns the functions in the order of the file.
    pub fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        (0..self.functions.keys.len() as u32).map(|number| {
            let (file, name) = self.function_names(number);
            let costs = self.functions.costs(number);
            Function { file, name, costs }
        })
    }

    /// Returns the lines in the order of the file.
    pub fn lines(&self) -> impl Iterator<Item = LineCosts<'_>> {
        let keys = self.lines.keys.iter().enumerate();
        keys.map(|(i, &(function, number))| {
            let (file, function) = self.function_names(function);
            LineCosts {
                file,
                function,
                number,
                costs: self.lines.costs(i as u32),
            }
        })
    }

    /// Returns the calls. Cachegrind records no calls.
    pub fn calls(&self) -> impl Iterator<Item = Call<'_>> {
        let keys = self.calls.keys.iter().enumerate();
        keys.map(|(i, &(caller, callee))| Call {
            caller: self.function_names(caller),
            callee: self.function_names(callee),
            count: self.call_counts[i],
            costs: self.calls.costs(i as u32),
        })
    }

    fn function_names(&self, function: u32) -> (&str, &str) {
        let (file, name) = self.functions.keys[function as usize];
        (self.names.get(file), self.names.get(name))
    }
}

/// Sums of costs by key.
#[derive(Clone, Debug)]
struct CostSums<K> {
    slots: HashMap<K, u32, RandomState>,
    keys: Vec<K>,
    /// The index that was found most recently.
    last: usize,
    /// The sums: `width` values for each key.
    sums: Vec<u64>,
    width: usize,
}

impl<K> Default for CostSums<K> {
    fn default() -> CostSums<K> {
        CostSums {
            slots: HashMap::default(),
            keys: Vec::new(),
            last: 0,
            sums: Vec::new(),
            width: 0,
        }
    }
}

impl<K: Copy + Eq + Hash> CostSums<K> {
    fn new(width: usize) -> CostSums<K> {
        CostSums {
            width,
            ..CostSums::default()
        }
    }

    #[inline]
    fn slot(&mut self, key: K, items: &'static str) -> Result<u32, ProfileError> {
        // Successive entries often have the same key, and all parts of a file have the same order, so two indexes are
        // tried first.
        for near in [self.last, self.last + 1] {
            if self.keys.get(near) == Some(&key) {
                self.last = near;
                return Ok(near as u32);
            }
        }
        self.search(key, items)
    }

    fn search(&mut self, key: K, items: &'static str) -> Result<u32, ProfileError> {
        if let Some(slot) = self.slots.get(&key) {
            self.last = *slot as usize;
            return Ok(*slot);
        }
        let slot = self.keys.len();
        self.last = slot;
        if slot >= MAX_ENTRIES {
            return Err(ProfileError::TooMuch {
                most: MAX_ENTRIES,
                items,
            });
        }
        self.keys.push(key);
        self.sums.resize(self.sums.len() + self.width, 0);
        self.slots.insert(key, slot as u32);
        Ok(slot as u32)
    }

    #[inline]
    fn add(&mut self, slot: u32, costs: &[u64]) {
        let start = slot as usize * self.width;
        add(&mut self.sums[start..start + self.width], costs);
    }

    fn costs(&self, slot: u32) -> &[u64] {
        let start = slot as usize * self.width;
        &self.sums[start..start + self.width]
    }
}

/// Adds costs. The sums saturate instead of overflowing, because a file may contain any number.
#[inline]
pub(crate) fn add(to: &mut [u64], costs: &[u64]) {
    for (sum, cost) in to.iter_mut().zip(costs) {
        *sum = sum.saturating_add(*cost);
    }
}

/// Distinct names, which are referred to by index.
#[derive(Clone, Debug, Default)]
struct NumberedNames {
    numbers: HashMap<Box<str>, u32, RandomState>,
    names: Vec<Box<str>>,
    bytes: usize,
}

impl NumberedNames {
    fn number(&mut self, name: &[u8]) -> Result<u32, ProfileError> {
        let name = String::from_utf8_lossy(name);
        if let Some(number) = self.numbers.get(&*name) {
            return Ok(*number);
        }
        self.bytes += name.len();
        if self.bytes > MAX_NAME_BYTES || self.names.len() >= MAX_ENTRIES {
            let items = "names";
            return Err(ProfileError::TooMuch {
                most: MAX_ENTRIES,
                items,
            });
        }
        let number = self.names.len() as u32;
        self.names.push((*name).into());
        self.numbers.insert((*name).into(), number);
        Ok(number)
    }

    fn get(&self, number: u32) -> &str {
        &self.names[number as usize]
    }
}
