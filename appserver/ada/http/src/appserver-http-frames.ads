--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The frames of WebSocket connections (RFC 6455, 5), as a server reads and writes them

pragma Ada_2022;

private package Appserver.HTTP.Frames is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Opcode is range 0 .. 15;

   Continuation : constant Opcode := 0;
   Text         : constant Opcode := 1;
   Binary       : constant Opcode := 2;
   Close        : constant Opcode := 8;
   Ping         : constant Opcode := 9;
   Pong         : constant Opcode := 10;

   Max_Control_Length : constant := 125;
   --  The maximum length of the content of a control frame

   type Code is range 0 .. 65_535;

   Normal_Closure  : constant Code := 1_000;
   Going_Away      : constant Code := 1_001;
   Protocol_Error  : constant Code := 1_002;
   No_Code         : constant Code := 1_005;
   Abnormal        : constant Code := 1_006;
   Invalid_Content : constant Code := 1_007;
   Policy          : constant Code := 1_008;
   Too_Big         : constant Code := 1_009;
   Internal        : constant Code := 1_011;
   Try_Later       : constant Code := 1_013;

   function Can_Be_Sent (Code : Frames.Code) return Boolean is
     (Code in 1_000 .. 1_003 | 1_007 .. 1_014 | 3_000 .. 4_999);
   --  Returns True if the code may be in a close frame (RFC 6455, 7.4, and the IANA registry)

   -------------
   -- Parsing --
   -------------

   type Parser is limited private;

   type Event is
     (Needs_More, Has_Message, Has_Ping, Has_Pong, Has_Close, Has_Failed);

   procedure Parse
     (Self    : in out Parser;
      Max     : Positive;
      Bytes   : in out String;
      Next    : in out Positive;
      Last    : Natural;
      Written : in out Natural;
      Result  : out Event)
     with Pre => Written < Next and then Last <= Bytes'Last;
   --  Reads Bytes (Next .. Last) until a message or a control frame is complete. Unmasked content
   --  of a message is moved to the bytes after Written. Max is the maximum length of a message.
   --  After Has_Failed, Close_Code is the code to send.

   function Is_Text (Self : Parser) return Boolean;
   --  Returns True if the latest message is text

   function Control (Self : Parser) return String;
   --  Returns the content of the latest control frame

   function Close_Code (Self : Parser) return Code;
   --  Returns the code of the close frame, No_Code if it has none, or the code of the error

   function Close_Reason (Self : Parser) return String;

   function Is_Between_Messages (Self : Parser) return Boolean;
   --  Returns True if neither a frame nor a message has begun

   -------------
   -- Writing --
   -------------

   function Header (Kind : Opcode; Length : Natural) return String;
   --  Returns the header of an unfragmented frame

private

   Max_Header_Length : constant := 14;

   subtype Byte is Natural range 0 .. 255;

   --  Validates UTF-8 byte by byte, as the decoder of the WHATWG Encoding Standard (8.1.1) does

   type UTF_8_State is record
      Needed : Natural range 0 .. 3 := 0;
      Lower  : Byte := 16#80#;
      Upper  : Byte := 16#BF#;
   end record;

   type Mask_Index is mod 4;
   type Mask_Key is array (Mask_Index) of Byte;

   type Parser is limited record
      Header_Length  : Natural range 0 .. Max_Header_Length := 0;
      In_Payload     : Boolean := False;
      Is_Final       : Boolean := False;
      In_Message     : Boolean := False;
      --  True between the first frame of a fragmented message and its last frame
      Kind           : Opcode := Continuation;
      Message_Kind   : Opcode := Text;
      Index          : Mask_Index := 0;
      UTF_8          : UTF_8_State;
      Error          : Code := No_Code;
      Control_Length : Natural range 0 .. Max_Control_Length := 0;
      Remaining      : Natural := 0;
      --  The number of bytes of the frame that have not arrived
      Message_Length : Natural := 0;
      Mask           : Mask_Key := [others => 0];
      Header         : String (1 .. Max_Header_Length);
      Control        : String (1 .. Max_Control_Length);
   end record;

   function Is_Text (Self : Parser) return Boolean is (Self.Message_Kind = Text);
   function Control (Self : Parser) return String is (Self.Control (1 .. Self.Control_Length));
   function Is_Between_Messages (Self : Parser) return Boolean is
     (Self.Header_Length = 0 and then not Self.In_Message);
   function Close_Reason (Self : Parser) return String is
     (if Self.Control_Length > 2 then Self.Control (3 .. Self.Control_Length) else "");

end Appserver.HTTP.Frames;
