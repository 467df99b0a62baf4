--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Controls the duration and the start of a Cancel, and checks whether the Cancel would stop an
--  operation.

package Appserver.SQL.Held_Cancels is

   procedure Hold (On : Connection'Class; Act : not null access procedure);
   --  Calls Act while On behaves as if another task were executing Cancel (On)

   function Has_Target (On : Connection'Class) return Boolean;
   --  Returns True if Cancel would find an operation to stop

   procedure Close (On : in out Connection'Class; Has_Target : out Boolean);
   --  Closes On. Sets Has_Target to True if a Cancel that begins during the Close would find an
   --  operation to stop.

   procedure Cancel_At_End (On : in out Connection'Class; Is_Refused, Is_Awaited : out Boolean);
   --  Begins a Cancel at the end of On's finalization. Sets Is_Refused to True if the Cancel finds
   --  no operation to stop or raises Misuse_Error. Sets Is_Awaited to True if the finalization
   --  would wait for the Cancel.

end Appserver.SQL.Held_Cancels;
