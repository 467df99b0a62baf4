--  SPDX-License-Identifier: Apache-2.0

function Process_Cases.New_Case (Name : String) return Cases.Case_Reference;
--  Returns null if there is no case with that name
