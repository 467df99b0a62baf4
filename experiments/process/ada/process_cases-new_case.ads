--  SPDX-License-Identifier: Apache-2.0

function Process_Cases.New_Case (Name : String) return Cases.Case_Reference;
--  Returns a new case by its name; null if there is no such case
