--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.HTTP.Channel_Cores;
with Appserver.HTTP.Frames;
with Appserver.HTTP.Linux;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;

package body Appserver.HTTP.Channel_Tests is

   use AUnit.Assertions;
   use Channel_Cores;

   use type Frames.Event;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   function Bytes (Values : String) return String is
      Result : String (1 .. Values'Length / 2);
   begin
      for K in Result'Range loop
         Result (K) := Character'Val
           (Natural'Value
              ("16#" & Values (Values'First + 2 * K - 2 .. Values'First + 2 * K - 1) & "#"));
      end loop;
      return Result;
   end Bytes;

   ------------
   -- Frames --
   ------------

   --  Parses a text in pieces of a length. Returns the messages, each followed by "|", with the
   --  control frames in between, and at the end the code of an error.

   function Parsed (Text : String; Piece : Positive; Max : Positive := 1_000) return String is
      Parser  : Frames.Parser;
      Buffer  : String (1 .. 2 * Text'Length + 1) := [others => '?'];
      Result  : String (1 .. 4 * Text'Length + 20);
      Length  : Natural := 0;
      Written : Natural := 0;
      Begun   : Positive := 1;
      Next    : Positive;
      From    : Positive := Text'First;
      Last    : Natural;
      Event   : Frames.Event;

      procedure Put (Text : String) is
      begin
         Result (Length + 1 .. Length + Text'Length) := Text;
         Length := Length + Text'Length;
      end Put;

   begin
      while From <= Text'Last loop
         --  As in a loop: received bytes follow the beginning of the message
         Last := Written + Natural'Min (Piece, Text'Last - From + 1);
         Buffer (Written + 1 .. Last) := Text (From .. From + Last - Written - 1);
         From := From + Last - Written;
         Next := Written + 1;
         loop
            Frames.Parse (Parser, Max, Buffer, Next, Last, Written, Event);
            case Event is
               when Frames.Needs_More =>
                  exit;
               when Frames.Has_Message =>
                  Put (Buffer (Begun .. Written) & '|');
                  Begun := Written + 1;
               when Frames.Has_Ping =>
                  Put ("ping " & Frames.Control (Parser) & '|');
               when Frames.Has_Pong =>
                  Put ("pong " & Frames.Control (Parser) & '|');
               when Frames.Has_Close =>
                  Put ("close" & Frames.Close_Code (Parser)'Image & ' '
                       & Frames.Close_Reason (Parser));
                  return Result (1 .. Length);
               when Frames.Has_Failed =>
                  Put ("failed" & Frames.Close_Code (Parser)'Image);
                  return Result (1 .. Length);
            end case;
         end loop;
      end loop;
      return Result (1 .. Length);
   end Parsed;

   procedure Expect (Text, Result : String; Max : Positive := 1_000) is
   begin
      for Piece in 1 .. Text'Length loop
         Assert
           (Parsed (Text, Piece, Max) = Result,
            Result & " in pieces of" & Piece'Image & ": " & Parsed (Text, Piece, Max));
      end loop;
   end Expect;

   --  RFC 6455, 5.7

   procedure Has_Examples (Self : in out Fixture) is
      pragma Unreferenced (Self);
      Hello : constant String := Bytes ("818537fa213d7f9f4d5158");
   begin
      Expect (Hello, "Hello|");
      Expect (Bytes ("810548656c6c6f"), "failed 1002");
      Expect (Bytes ("018300000000" & "48656c" & "808200000000" & "6c6f"), "Hello|");
      Expect (Bytes ("018300000000" & "48656c" & "898537fa213d7f9f4d5158"
                     & "808200000000" & "6c6f") & Hello, "ping Hello|Hello|Hello|");
      Expect (Bytes ("8a8537fa213d7f9f4d5158"), "pong Hello|");
      Expect (Bytes ("888200000000" & "03e8"), "close 1000 ");
      Assert (Frames.Header (Frames.Text, 5) = Bytes ("8105"), "5");
      Assert (Frames.Header (Frames.Binary, 256) = Bytes ("827e0100"), "256");
      Assert (Frames.Header (Frames.Binary, 65_536) = Bytes ("827f0000000000010000"), "65536");
   end Has_Examples;

   procedure Checks_Lengths (Self : in out Fixture) is
      pragma Unreferenced (Self);
      Five : constant String := Bytes ("828500000000") & "12345";
   begin
      Expect (Five, "12345|", Max => 5);
      Expect (Five, "failed 1009", Max => 4);
      Expect (Bytes ("018300000000") & "123" & Bytes ("808300000000"), "failed 1009", Max => 5);
      Expect (Bytes ("82fe007d00000000"), "failed 1002");
      Expect (Bytes ("82ff000000000000ffff00000000"), "failed 1002");
      Expect (Bytes ("82ff800000000001000000000000"), "failed 1002");
      Expect (Bytes ("82ff7fffffffffffffff00000000"), "failed 1009");
   end Checks_Lengths;

   procedure Checks_Text (Self : in out Fixture) is
      pragma Unreferenced (Self);
      Mask : constant String := "00000000";
   begin
      Expect (Bytes ("8184" & Mask & "f48fbfbf"), Bytes ("f48fbfbf") & '|');
      Expect (Bytes ("8183" & Mask & "eda080"), "failed 1007");
      Expect (Bytes ("8182" & Mask & "e0a0"), "failed 1007");
      Expect (Bytes ("0182" & Mask & "e0a0" & "8081" & Mask & "80"), Bytes ("e0a080") & '|');
      Expect (Bytes ("8281" & Mask & "ff"), Bytes ("ff") & '|');
      Expect (Bytes ("8883" & Mask & "03e8ff"), "failed 1007");
      Expect (Bytes ("8882" & Mask & "03ed"), "failed 1002");
   end Checks_Text;

   ------------
   -- Queues --
   ------------

   type Outcome_List is array (Positive range <>) of Outcome;

   type Test_Core is new Core (Event_Stream) with null record;

   overriding procedure Parse
     (Self    : in out Test_Core;
      Bytes   : in out String;
      Next    : in out Positive;
      Last    : Natural;
      Written : in out Natural;
      Result  : out Input_Event);
   overriding procedure Call_Open (Self : not null access Test_Core) is null;
   overriding procedure Call_Message (Self : not null access Test_Core; Message : String) is null;
   overriding procedure Call_Close (Self : not null access Test_Core) is null;
   overriding procedure End_Session (Self : in out Test_Core) is null;
   overriding procedure Finish (Self : in out Test_Core; Reason : Ending) is null;
   overriding procedure Send_Keep_Alive (Self : in out Test_Core) is null;
   overriding function Awaits_Client (Self : Test_Core) return Boolean is (False);

   overriding procedure Parse
     (Self    : in out Test_Core;
      Bytes   : in out String;
      Next    : in out Positive;
      Last    : Natural;
      Written : in out Natural;
      Result  : out Input_Event)
   is
      pragma Unreferenced (Self, Bytes, Written);
   begin
      Next   := Last + 1;
      Result := Needs_More;
   end Parse;

   function New_Message (Text : String) return Message_Reference is
     (new Encoded_Message'
        (Length        => Text'Length,
         Used_By       => Event_Stream,
         Content_First => 2,
         Content_Last  => Text'Length - 1,
         Bytes         => Text,
         others        => <>));

   procedure Queues_Messages (Self : in out Fixture) is
      pragma Unreferenced (Self);
      Core    : Core_Reference := new Test_Core;
      Message : Message_Reference := New_Message ("<abcd>");
      Result  : Outcome;
      Buffer  : String (1 .. 10);
      Last    : Natural;
      Empty   : Boolean;
   begin
      Core.Max_Queued := 12;
      for Expected of Outcome_List'(Queued, Queued, Full) loop
         Send (Core.all, Message, Result);
         Assert (Result = Expected, Expected'Image);
      end loop;
      Assert (Message.References = 3, "both messages share their bytes");
      Assert (Waiting_Bytes (Core.all) = 12, "length");
      Get_Output (Core.all, Buffer, Last);
      Assert (Buffer (1 .. Last) = "<abcd><abc", Buffer (1 .. Last));
      Drop_Output (Core.all, 7, Empty);
      Assert (not Empty and then Message.References = 2, "the first is sent");
      Get_Output (Core.all, Buffer, Last);
      Assert (Buffer (1 .. Last) = "abcd>", Buffer (1 .. Last));
      Drop_Output (Core.all, 5, Empty);
      Assert (Empty and then Core.Is_Idle and then Core.Content = 8, "all is sent");
      --  An empty queue accepts any length
      Core.Max_Queued := 1;
      Send (Core.all, Message, Result);
      Assert (Result = Queued, "a long message");
      Close (Core.all, Message);
      Send (Core.all, Message, Result);
      Assert (Result = Closed and then Waiting_Bytes (Core.all) = 12, "closed");
      Drop (Core);
      Assert (Message.References = 1, "the core frees its queue");
      Drop (Message);
   end Queues_Messages;

   procedure Sends_Raw_Events (Self : in out Fixture) is
      pragma Unreferenced (Self);
      Core    : Core_Reference := new Test_Core;
      Message : Message_Reference := New_Message ("<abcd>");
      Last_One : Message_Reference := New_Message ("<>");
      Result  : Outcome;
      Buffer  : String (1 .. 6);
      Last    : Natural;
      Empty   : Boolean;
   begin
      Core.Max_Queued := 100;
      Core.Is_Raw     := True;
      Send (Core.all, Message, Result);
      Send (Core.all, Message, Result);
      Close (Core.all, Last_One);
      Get_Output (Core.all, Buffer, Last);
      Assert (Buffer (1 .. Last) = "abcdab", Buffer (1 .. Last));
      Drop_Output (Core.all, 6, Empty);
      Get_Output (Core.all, Buffer, Last);
      Assert (Buffer (1 .. Last) = "cd" and then not Empty, Buffer (1 .. Last));
      Drop_Output (Core.all, 2, Empty);
      Assert (Empty, "the last chunk has no content");
      Drop (Core);
      Drop (Message);
      Drop (Last_One);
   end Sends_Raw_Events;

   procedure Wakes_Once (Self : in out Fixture) is
      pragma Unreferenced (Self);
      List    : aliased Ready_List;
      Event   : constant Descriptor := Linux.New_Wake_Event;
      Set     : constant Descriptor := Linux.New_Set;
      Events  : Linux.Event_List;
      Count   : Natural;
      Core    : Core_Reference := new Test_Core;
      Held    : constant Core_Reference := Core;
      Found   : Core_Reference;
      Message : Message_Reference := New_Message ("<abcd>");
      Result  : Outcome;
      Buffer  : String (1 .. 10);
      Last    : Natural;

      function Is_Woken return Boolean is
      begin
         Linux.Wait (Set, Events, 0, Count);
         if Count > 0 then
            Linux.Reset (Event);
         end if;
         return Count > 0;
      end Is_Woken;

   begin
      Linux.Add (Set, Event, Linux.Input, 0);
      Open (List, Event);
      Core.Max_Queued := 100;
      Attach (Core.all, List'Unchecked_Access, 1);
      Send (Core.all, Message, Result);
      Assert (not Is_Woken and then not Has_Some (List), "the core is not idle yet");
      Drop_Output (Core.all, 6, Is_Empty => Core.Is_Pinged);
      Send (Core.all, Message, Result);
      Assert (Is_Woken and then Has_Some (List), "the first message wakes");
      Send (Core.all, Message, Result);
      Assert (not Is_Woken, "the second does not");
      Get (List, Found);
      Assert (Found = Held and then not Has_Some (List), "found");
      Drop (Found);
      Get_Output (Core.all, Buffer, Last);
      Assert (Last = 10, "both are there");
      Take (Core);
      Detach (Held);
      Assert (Is_Woken and then Waiting_Bytes (Core.all) = 0, "the end wakes");
      Send (Core.all, Message, Result);
      Assert (Result = Closed and then Message.References = 1, "the queue is discarded");
      Get (List, Found);
      Assert (Found.Is_Gone, "gone");
      Drop (Found);
      Get (List, Found);
      Assert (Found = null, "empty");
      Drop (Core);
      Drop (Message);
      Linux.Close (Set);
      Linux.Close (Event);
   end Wakes_Once;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Caller.Create ("channels: examples of RFC 6455", Has_Examples'Access));
      Result.Add_Test (Caller.Create ("channels: lengths of frames", Checks_Lengths'Access));
      Result.Add_Test (Caller.Create ("channels: text is UTF-8", Checks_Text'Access));
      Result.Add_Test (Caller.Create ("channels: queues", Queues_Messages'Access));
      Result.Add_Test (Caller.Create ("channels: events without chunks", Sends_Raw_Events'Access));
      Result.Add_Test (Caller.Create ("channels: a loop is woken once", Wakes_Once'Access));
      return Result;
   end Suite;

end Appserver.HTTP.Channel_Tests;
