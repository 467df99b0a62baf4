--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Destinations of text that is written piece by piece, such as a response's body or a buffer.

pragma Ada_2022;

package Appserver.Text_Sinks with Preelaborate is

   type Text_Sink is limited interface;

   procedure Append (Self : in out Text_Sink; Text : String) is abstract;
   --  A sink that is full says so in its own way

   ------------
   -- Buffer --
   ------------

   type Text_Buffer (Capacity : Natural) is limited new Text_Sink with private;

   overriding procedure Append (Self : in out Text_Buffer; Text : String);
   --  A text without room is dropped as a whole, and so are all later ones

   procedure Clear (Self : in out Text_Buffer)
     with Post => Self.Length = 0 and then not Self.Is_Cut;

   function Length (Self : Text_Buffer) return Natural;
   function Content (Self : Text_Buffer) return String;

   function Is_Cut (Self : Text_Buffer) return Boolean;
   --  True if something was lost

private

   type Text_Buffer (Capacity : Natural) is limited new Text_Sink with record
      Length : Natural := 0;
      Cut    : Boolean := False;
      Text   : String (1 .. Capacity);
   end record;

   function Length (Self : Text_Buffer) return Natural is (Self.Length);
   function Content (Self : Text_Buffer) return String is (Self.Text (1 .. Self.Length));
   function Is_Cut (Self : Text_Buffer) return Boolean is (Self.Cut);

end Appserver.Text_Sinks;
