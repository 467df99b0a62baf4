--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.HTTP.Frames;
with Appserver.UTF_8;
with GNAT.SHA1;

package body Appserver.HTTP.Channels.WebSockets is

   use Channel_Cores;
   use Channels.Protocols;

   type Socket_Core is new Core (Web_Socket) with record
      Session : Session_Reference := null;
      Parser  : Frames.Parser;
   end record;

   overriding procedure Parse
     (Self    : in out Socket_Core;
      Bytes   : in out String;
      Next    : in out Positive;
      Last    : Natural;
      Written : in out Natural;
      Result  : out Input_Event);
   overriding procedure Call_Open (Self : not null access Socket_Core);
   overriding procedure Call_Message (Self : not null access Socket_Core; Message : String);
   overriding procedure Call_Close (Self : not null access Socket_Core);
   overriding procedure End_Session (Self : in out Socket_Core);
   overriding procedure Finish (Self : in out Socket_Core; Reason : Ending);
   overriding procedure Send_Keep_Alive (Self : in out Socket_Core);
   overriding function Awaits_Client (Self : Socket_Core) return Boolean is (not Self.Is_Ended);

   --------------
   -- Encoding --
   --------------

   --  Returns a message whose content, after the header, has no value yet

   function New_Message (Kind : Frames.Opcode; Length : Natural) return Message_Reference is
      Header : constant String := Frames.Header (Kind, Length);
   begin
      return Result : constant Message_Reference := new Encoded_Message'
        (Length        => Header'Length + Length,
         References    => 1,
         Used_By       => Web_Socket,
         Content_First => Header'Length + 1,
         Content_Last  => Header'Length + Length,
         Bytes         => <>)
      do
         Result.Bytes (1 .. Header'Length) := Header;
      end return;
   end New_Message;

   function Encoded (Kind : Frames.Opcode; Content : String) return Message is
      Result : constant Message_Reference := New_Message (Kind, Content'Length);
   begin
      Result.Bytes (Result.Content_First .. Result.Content_Last) := Content;
      return Adopted (Result);
   end Encoded;

   function Is_UTF_8 (Text : String) return Boolean is (UTF_8.Is_Valid (Text));

   function Text_Message (Text : String) return Message is (Encoded (Frames.Text, Text));

   function Binary_Message (Bytes : String) return Message is (Encoded (Frames.Binary, Bytes));

   procedure Send
     (Socket : Channel; Message : String; Kind : Message_Kind; Result : out Send_Result) is
   begin
      Send
        (Socket, Encoded ((if Kind = Text then Frames.Text else Frames.Binary), Message), Result);
   end Send;

   function Close_Frame (Code : Frames.Code; Reason : String) return Message is
      use type Frames.Code;

      Length : constant Natural := (if Code = Frames.No_Code then 0 else 2 + Reason'Length);
      Result : constant Message_Reference := New_Message (Frames.Close, Length);
      First  : constant Positive := Result.Content_First;
   begin
      if Length > 0 then
         Result.Bytes (First)     := Character'Val (Code / 256);
         Result.Bytes (First + 1) := Character'Val (Code mod 256);
         Result.Bytes (First + 2 .. Result.Content_Last) := Reason;
      end if;
      return Adopted (Result);
   end Close_Frame;

   procedure Close_With
     (Core : in out Channel_Cores.Core'Class; Code : Frames.Code; Reason : String := "")
   is
      Frame : constant Message := Close_Frame (Code, Reason);
   begin
      Channel_Cores.Close (Core, Frame.Bytes.Reference);
   end Close_With;

   procedure Close
     (Socket : Channel; Code : Close_Code := Normal_Closure; Reason : String := "") is
   begin
      Close_With (Socket.Core.all, Frames.Code (Code), Reason);
   end Close;

   overriding procedure Finish (Self : in out Socket_Core; Reason : Ending) is
   begin
      Close_With
        (Self, (case Reason is
                   when Channel_Cores.Normal     => Frames.Normal_Closure,
                   when Channel_Cores.Going_Away => Frames.Going_Away,
                   when Failed_Callback          => Frames.Internal,
                   when Too_Slow                 => Frames.Policy,
                   when No_Memory                => Frames.Try_Later));
   end Finish;

   overriding procedure Send_Keep_Alive (Self : in out Socket_Core) is
      Frame : constant Message := Encoded (Frames.Ping, "");
   begin
      Send_Control (Self, Frame.Bytes.Reference);
   end Send_Keep_Alive;

   -------------
   -- Session --
   -------------

   overriding procedure Call_Open (Self : not null access Socket_Core) is
   begin
      Self.Session.On_Open (Handle (Core_Reference (Self)));
   end Call_Open;

   overriding procedure Call_Message (Self : not null access Socket_Core; Message : String) is
   begin
      Self.Session.On_Message
        (Handle (Core_Reference (Self)), Message,
         (if Frames.Is_Text (Self.Parser) then Text else Binary));
   end Call_Message;

   overriding procedure Call_Close (Self : not null access Socket_Core) is
   begin
      if Self.Is_Ended then
         Self.Session.On_Close
           (Handle (Core_Reference (Self)), Close_Code (Frames.Close_Code (Self.Parser)),
            Frames.Close_Reason (Self.Parser));
      else
         Self.Session.On_Close (Handle (Core_Reference (Self)), Abnormal_Closure, "");
      end if;
   end Call_Close;

   procedure Close_Session (Session : not null Session_Reference) is
   begin
      Session.Close;
   exception
      when others =>
         null;
   end Close_Session;

   overriding procedure End_Session (Self : in out Socket_Core) is
      Session : constant Session_Reference := Self.Session;
   begin
      Self.Session := null;
      if Session /= null then
         Close_Session (Session);
      end if;
   end End_Session;

   -----------
   -- Input --
   -----------

   overriding procedure Parse
     (Self    : in out Socket_Core;
      Bytes   : in out String;
      Next    : in out Positive;
      Last    : Natural;
      Written : in out Natural;
      Result  : out Input_Event)
   is
      Event : Frames.Event;

      procedure Reply_To_Ping is
         Frame : constant Message := Encoded (Frames.Pong, Frames.Control (Self.Parser));
      begin
         Send_Control (Self, Frame.Bytes.Reference);
      end Reply_To_Ping;

   begin
      Self.Is_Pinged := False;
      loop
         Frames.Parse (Self.Parser, Self.Max_Message, Bytes, Next, Last, Written, Event);
         case Event is
            when Frames.Needs_More | Frames.Has_Pong =>
               null;
            when Frames.Has_Ping =>
               Reply_To_Ping;
            when Frames.Has_Message =>
               Result := Has_Message;
               return;
            when Frames.Has_Close | Frames.Has_Failed =>
               Self.Is_Ended := True;
               Close_With (Self, Frames.Close_Code (Self.Parser));
               Result := Has_Ended;
               return;
         end case;
         exit when Next > Last;
      end loop;
      Self.In_Message := not Frames.Is_Between_Messages (Self.Parser);
      Result := Needs_More;
   end Parse;

   -------------
   -- Opening --
   -------------

   --  Calls Take with each element of a list, until it sets Is_Done

   procedure For_Each
     (List      : String;
      Separator : Character;
      Take      : not null access procedure (Item : String; Is_Done : out Boolean))
   is
      First   : Positive := List'First;
      Last    : Natural;
      Is_Done : Boolean := False;
   begin
      while First <= List'Last and then not Is_Done loop
         Last := First - 1;
         while Last < List'Last and then List (Last + 1) /= Separator loop
            Last := Last + 1;
         end loop;
         declare
            Item : constant Span := Trimmed (List, (First, Last));
         begin
            if Item.First <= Item.Last then
               Take (List (Item.First .. Item.Last), Is_Done);
            end if;
         end;
         First := Last + 2;
      end loop;
   end For_Each;

   --  Returns True if a list has an element, in upper or lower case

   function Has_Element
     (List : String; Separator : Character; Item : String; Is_Exact : Boolean := False)
      return Boolean
   is
      Result : Boolean := False;

      procedure Compare (Each : String; Is_Done : out Boolean) is
      begin
         Result  := Result or else (if Is_Exact then Each = Item else Same (Each, Item));
         Is_Done := Result;
      end Compare;

   begin
      For_Each (List, Separator, Compare'Access);
      return Result;
   end Has_Element;

   function Chosen_Protocol (Request : HTTP.Request; Protocols : String) return String is
      Offered : constant String := Request.Field ("Sec-WebSocket-Protocol");
      First   : Positive := 1;
      Last    : Natural  := 0;

      procedure Compare (Item : String; Is_Done : out Boolean) is
      begin
         Is_Done := Has_Element (Offered, ',', Item, Is_Exact => True);
         if Is_Done then
            First := Item'First;
            Last  := Item'Last;
         end if;
      end Compare;

   begin
      For_Each (Protocols, ' ', Compare'Access);
      return Protocols (First .. Last);
   end Chosen_Protocol;

   Base_64 : constant String := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

   --  Returns True for the encoding of 16 bytes (RFC 4648, 4)

   function Is_Key (Text : String) return Boolean is
     (Text'Length = 24
      and then Text (Text'Last - 1 .. Text'Last) = "=="
      and then (for all C of Text (Text'First .. Text'Last - 2) =>
                  (for some Digit of Base_64 => C = Digit))
      and then Text (Text'Last - 2) in 'A' | 'Q' | 'g' | 'w');

   function In_Base_64 (Bytes : GNAT.SHA1.Binary_Message_Digest) return String is
      Result : String (1 .. (Bytes'Length + 2) / 3 * 4) := [others => '='];
      Bits   : Natural := 0;
      Held   : Natural := 0;
      --  The bits that have not been written yet, and their number
      Last   : Natural := 0;
   begin
      for Byte of Bytes loop
         Bits := (Bits * 256 + Natural (Byte)) mod 2 ** 16;
         Held := Held + 8;
         while Held >= 6 loop
            Held := Held - 6;
            Last := Last + 1;
            Result (Last) := Base_64 (1 + Bits / 2 ** Held mod 64);
         end loop;
      end loop;
      if Held > 0 then
         Result (Last + 1) := Base_64 (1 + Bits * 2 ** (6 - Held) mod 64);
      end if;
      return Result;
   end In_Base_64;

   --  See RFC 6455, 4.2.2

   Salt : constant String := "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

   function Accept_Value (Key : String) return String is
      Hash : GNAT.SHA1.Context;
   begin
      GNAT.SHA1.Update (Hash, Key);
      GNAT.SHA1.Update (Hash, Salt);
      return In_Base_64 (GNAT.SHA1.Digest (Hash));
   end Accept_Value;

   --  Returns the part of an origin after its scheme

   function Authority (Origin : String) return String is
   begin
      for K in Origin'First .. Origin'Last - 3 loop
         if Origin (K .. K + 2) = "://" then
            return Origin (K + 3 .. Origin'Last);
         end if;
      end loop;
      return "";
   end Authority;

   --  A page's origin and the requested host have no port if it is the default port of their
   --  scheme. Behind a proxy for TLS, the scheme of the page differs from the server's.

   function Is_Allowed_Origin (Request : HTTP.Request; Origins : String) return Boolean is
      Origin : constant String := Request.Field ("Origin");
   begin
      return not Request.Has_Field ("Origin")
        or else (Request.Host /= "" and then Same (Authority (Origin), Request.Host))
        or else Has_Element (Origins, ' ', Origin)
        or else Has_Element (Origins, ' ', "*");
   end Is_Allowed_Origin;

   function Is_Upgrade (Request : HTTP.Request) return Boolean is
     (Request.Minor_Version > 0
      and then Has_Element (Request.Field ("Upgrade"), ',', "websocket")
      and then Has_Element (Request.Field ("Connection"), ',', "upgrade")
      and then Request.Field ("Sec-WebSocket-Version") = "13");

   --  426 requires Upgrade (RFC 9110, 15.5.22), which programs cannot add

   procedure Add_Upgrade (Builder : in out Response_Builder) is
      Lines : constant String :=
        "Upgrade: websocket" & ASCII.CR & ASCII.LF & "Connection: Upgrade" & ASCII.CR & ASCII.LF;
   begin
      Builder.Add_Field ("Sec-WebSocket-Version", "13");
      if Lines'Length > Fields_Capacity - Builder.Fields_Length then
         raise Response_Too_Large with
           "the header fields of the response are longer than the server allows";
      end if;
      Builder.Fields (Builder.Fields_Length + 1 .. Builder.Fields_Length + Lines'Length) := Lines;
      Builder.Fields_Length := Builder.Fields_Length + Lines'Length;
   end Add_Upgrade;

   --  Returns the response that opens no connection, or 101

   function Checked (Request : HTTP.Request; Origins : String) return Response is
   begin
      if Request.Method /= Get or else Request.Is_Head then
         return Not_Allowed (Request, "GET");
      elsif not Is_Upgrade (Request) then
         Add_Upgrade (Request.Builder.all);
         return Status_Only (Upgrade_Required);
      elsif not Is_Key (Request.Field ("Sec-WebSocket-Key")) or else Request.Content_Length > 0 then
         return Status_Only (Bad_Request);
      elsif not Is_Allowed_Origin (Request, Origins) then
         return Status_Only (Forbidden);
      end if;
      return
        (Status     => Switching_Protocols,
         Kind       => Channel_Bytes,
         Media_Type => null,
         Content    => null);
   end Checked;

   procedure Attach (Builder : in out Response_Builder; Core : not null Core_Reference) is
   begin
      Builder.Drop_Channel;
      Builder.Channel := Channel_Reference (Core);
   end Attach;

   function Open
     (Request   : HTTP.Request;
      Session   : not null Session_Reference;
      Origins   : String := "";
      Protocols : String := "";
      Options   : Settings := Default_Settings) return Response
   is
      Is_Owned : Boolean := False;
      --  True if the channel closes the session, or it is closed already
      Core     : Core_Reference;
   begin
      return Result : constant Response := Checked (Request, Origins) do
         if Result.Kind = Channel_Bytes then
            Request.Builder.Add_Field
              ("Sec-WebSocket-Accept", Accept_Value (Request.Field ("Sec-WebSocket-Key")));
            declare
               Protocol : constant String := Chosen_Protocol (Request, Protocols);
            begin
               if Protocol /= "" then
                  Request.Builder.Add_Field ("Sec-WebSocket-Protocol", Protocol);
               end if;
            end;
            Core := new Socket_Core;
            Socket_Core (Core.all).Session := Session;
            Is_Owned := True;
            Attach (Request.Builder.all, Core);
            Set_Limits (Core.all, Options);
            Core.Has_Session := True;
         else
            Is_Owned := True;
            Close_Session (Session);
         end if;
      end return;
   exception
      when others =>
         if not Is_Owned then
            Close_Session (Session);
         end if;
         raise;
   end Open;

end Appserver.HTTP.Channels.WebSockets;
