--  SPDX-License-Identifier: Apache-2.0

function Process_Cases.New_Case (Name : String) return Cases.Case_Reference;
--  Null if there is none of that name
