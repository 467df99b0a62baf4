--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Lines of COPY's text format: https://www.postgresql.org/docs/15/sql-copy.html

pragma Ada_2022;

private with Ada.Finalization;

private package Appserver.SQL.PostgreSQL_Lines is

   type Buffer_Reference is access String;

   type Line_Buffer is tagged limited private;
   --  A buffer for one line, whose memory is reused for the next line

   function Bytes (Self : Line_Buffer) return Buffer_Reference;
   --  Returns the buffer; not null after the first Put

   function Last (Self : Line_Buffer) return Natural;
   --  Returns the length of the line in bytes. The line is Bytes (1 .. Last).

   procedure Clear (Self : in out Line_Buffer)
     with Post => Self.Last = 0;

   procedure Put (Self : in out Line_Buffer; Item : Character);
   procedure Put (Self : in out Line_Buffer; Text : String);
   --  Appends a character or a string without escaping it

   procedure Put_Escaped (Self : in out Line_Buffer; Text : String);
   --  Appends text. Backslashes and the characters that terminate values and lines are escaped with
   --  a backslash.

private

   type Line_Buffer is limited new Ada.Finalization.Limited_Controlled with record
      Room : Buffer_Reference;
      Used : Natural := 0;
   end record;

   overriding procedure Finalize (Self : in out Line_Buffer);

   function Bytes (Self : Line_Buffer) return Buffer_Reference is (Self.Room);
   function Last (Self : Line_Buffer) return Natural is (Self.Used);

end Appserver.SQL.PostgreSQL_Lines;
