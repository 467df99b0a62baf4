--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.SQL.Call_Limits is

   procedure Start
     (Self : in out Call_Limit; On : Connection'Class; Deadline : Ada.Real_Time.Time) is
   begin
      Self.Limit.Start (On, Deadline);
   end Start;

   procedure Begin_Opening (On : in out Connection'Class; Deadline : Ada.Real_Time.Time) is
   begin
      On.Call_Deadline := Deadline;
   end Begin_Opening;

   procedure End_Opening (On : in out Connection'Class) is
   begin
      On.Call_Deadline := Ada.Real_Time.Time_Last;
   end End_Opening;

end Appserver.SQL.Call_Limits;
