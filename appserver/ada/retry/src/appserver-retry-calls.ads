--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  What is known of the outermost call of a task while it is made.

pragma Ada_2022;

private package Appserver.Retry.Calls is

   type Call is limited record
      Is_Uncommitted : Boolean := False;
      --  The attempt's transaction ended, and not by its commit
      Part_Failed    : Boolean := False;
      Failure        : Ada.Exceptions.Exception_Occurrence;
      --  The first fault of a part of the attempt's transaction, if Part_Failed
      Is_Unknown     : Boolean := False;
      --  Whether an attempt took effect: the latest, or with a key any before one takes that
   end record;

   type Call_Access is access all Call;

   function Current return Call_Access with Inline;
   --  Null outside of calls

   procedure Set_Current (To : Call_Access) with Inline;

   procedure Note_Uncommitted;
   procedure Note_Part (Error : Ada.Exceptions.Exception_Occurrence);

   procedure Note_Key_Taken;
   --  No attempt took effect

   procedure Check_Parts;
   --  Raises the fault of a part: the database may have ended the transaction

end Appserver.Retry.Calls;
