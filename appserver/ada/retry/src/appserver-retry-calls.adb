--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Retry.Calls is

   Of_Task : Call_Access := null with Thread_Local_Storage;

   function Current return Call_Access is (Of_Task);

   procedure Set_Current (To : Call_Access) is
   begin
      Of_Task := To;
   end Set_Current;

   procedure Note_Uncommitted is
   begin
      if Of_Task /= null then
         Of_Task.Is_Uncommitted := True;
      end if;
   end Note_Uncommitted;

   procedure Note_Part (Error : Ada.Exceptions.Exception_Occurrence) is
   begin
      if Of_Task /= null and then not Of_Task.Part_Failed then
         Ada.Exceptions.Save_Occurrence (Of_Task.Failure, Error);
         Of_Task.Part_Failed := True;
      end if;
   end Note_Part;

   procedure Note_Key_Taken is
   begin
      if Of_Task /= null then
         Of_Task.Is_Unknown := False;
      end if;
   end Note_Key_Taken;

   procedure Check_Parts is
   begin
      if Of_Task /= null and then Of_Task.Part_Failed then
         Ada.Exceptions.Reraise_Occurrence (Of_Task.Failure);
      end if;
   end Check_Parts;

end Appserver.Retry.Calls;
