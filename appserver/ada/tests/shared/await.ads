--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Waits until a condition holds. The test fails with the message if it does not hold within a
--  minute.

procedure Await (Condition : not null access function return Boolean; Message : String);
