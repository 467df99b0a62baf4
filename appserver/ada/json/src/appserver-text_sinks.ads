--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Destinations for text that is written in pieces, such as the content of a response or a buffer.

pragma Ada_2022;

package Appserver.Text_Sinks with Preelaborate is

   type Text_Sink is limited interface;

   procedure Append (Self : in out Text_Sink; Text : String) is abstract;
   --  Appends text. Each implementation specifies its behavior when the sink is full.
   --  @param Self the sink
   --  @param Text the text

   ------------
   -- Buffer --
   ------------

   type Text_Buffer (Capacity : Natural) is limited new Text_Sink with private;
   --  A buffer for up to Capacity bytes

   overriding procedure Append (Self : in out Text_Buffer; Text : String);
   --  Appends text. If a text does not fit, the buffer drops the whole text and all later texts.
   --  @param Self the buffer
   --  @param Text the text

   procedure Clear (Self : in out Text_Buffer)
     with Post => Self.Length = 0 and then not Self.Is_Cut;
   --  Empties the buffer.
   --  @param Self the buffer

   function Length (Self : Text_Buffer) return Natural;
   --  @param Self the buffer
   --  @return the number of bytes in the buffer

   function Content (Self : Text_Buffer) return String;
   --  @param Self the buffer
   --  @return the text in the buffer

   function Is_Cut (Self : Text_Buffer) return Boolean;
   --  @param Self the buffer
   --  @return True if text was dropped

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
