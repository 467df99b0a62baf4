--  SPDX-License-Identifier: Apache-2.0
--
--  The cases by name; null if there is none of that name.

function SQL_Cases.New_Case (Name : String) return Cases.Case_Reference;
