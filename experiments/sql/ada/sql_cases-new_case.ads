--  SPDX-License-Identifier: Apache-2.0
--
--  Returns a new case by its name; null if there is no such case.

function SQL_Cases.New_Case (Name : String) return Cases.Case_Reference;
