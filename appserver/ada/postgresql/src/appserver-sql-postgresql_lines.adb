--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;

package body Appserver.SQL.PostgreSQL_Lines is

   procedure Free is new Ada.Unchecked_Deallocation (String, Buffer_Reference);

   Min_Room : constant := 1_024;

   procedure Make_Room (Self : in out Line_Buffer; More : Natural) is
      Needed : constant Natural := Self.Used + More;
      Before : Buffer_Reference := Self.Room;
   begin
      if Before = null or else Before'Length < Needed then
         Self.Room := new String (1 .. Integer'Max (Min_Room, Needed + Self.Used));
         if Before /= null then
            Self.Room (1 .. Self.Used) := Before (1 .. Self.Used);
            Free (Before);
         end if;
      end if;
   end Make_Room;

   procedure Clear (Self : in out Line_Buffer) is
   begin
      Self.Used := 0;
   end Clear;

   procedure Put (Self : in out Line_Buffer; Item : Character) is
   begin
      Put (Self, String'[1 => Item]);
   end Put;

   procedure Put (Self : in out Line_Buffer; Text : String) is
   begin
      Make_Room (Self, Text'Length);
      Self.Room (Self.Used + 1 .. Self.Used + Text'Length) := Text;
      Self.Used := Self.Used + Text'Length;
   end Put;

   procedure Put_Escaped (Self : in out Line_Buffer; Text : String) is
   begin
      Make_Room (Self, 2 * Text'Length);
      for C of Text loop
         if C in '\' | ASCII.HT | ASCII.LF | ASCII.CR then
            Self.Used := Self.Used + 1;
            Self.Room (Self.Used) := '\';
         end if;
         Self.Used := Self.Used + 1;
         Self.Room (Self.Used) :=
           (case C is
               when ASCII.HT => 't',
               when ASCII.LF => 'n',
               when ASCII.CR => 'r',
               when others   => C);
      end loop;
   end Put_Escaped;

   overriding procedure Finalize (Self : in out Line_Buffer) is
   begin
      Free (Self.Room);
   end Finalize;

end Appserver.SQL.PostgreSQL_Lines;
