--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A Cancel that takes as long as a test needs, or begins when it needs, and what it would stop.

package Appserver.SQL.Held_Cancels is

   procedure Hold (On : Connection'Class; Act : not null access procedure);
   --  Calls Act as if another task were in Cancel of On meanwhile

   function Has_Target (On : Connection'Class) return Boolean;
   --  True if Cancel would find something to stop

   procedure Close (On : in out Connection'Class; Has_Target : out Boolean);
   --  Closes On. Has_Target: a Cancel that begins during the Close would find something to stop.

   procedure Cancel_At_End (On : in out Connection'Class; Is_Refused, Is_Awaited : out Boolean);
   --  Begins a Cancel at the end of On's finalization. Is_Awaited: the finalization would wait for
   --  it, and for ever, if it is refused.

end Appserver.SQL.Held_Cancels;
