--  SPDX-License-Identifier: Apache-2.0

with Process_Cases.Piping;
with Process_Cases.Starting;

function Process_Cases.New_Case (Name : String) return Cases.Case_Reference is
begin
   return
     (if Name = "start" then new Starting.Start_Case
      elsif Name = "fail" then new Starting.Fail_Case
      elsif Name = "kill" then new Starting.Kill_Case
      elsif Name = "read" then new Piping.Read_Case
      elsif Name = "converse" then new Piping.Converse_Case
      elsif Name = "exchange" then new Piping.Exchange_Case
      elsif Name = "write_then_read" then new Piping.Write_Then_Read_Case
      else null);
end Process_Cases.New_Case;
