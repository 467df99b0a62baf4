--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Text_Sinks is

   overriding procedure Append (Self : in out Text_Buffer; Text : String) is
   begin
      if Self.Cut or else Text'Length > Self.Capacity - Self.Length then
         Self.Cut := True;
      else
         Self.Text (Self.Length + 1 .. Self.Length + Text'Length) := Text;
         Self.Length := Self.Length + Text'Length;
      end if;
   end Append;

   procedure Clear (Self : in out Text_Buffer) is
   begin
      Self.Length := 0;
      Self.Cut    := False;
   end Clear;

end Appserver.Text_Sinks;
