--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Strings.Unbounded;
with Ada.Unchecked_Deallocation;
with Appserver.HTTP.Channels.Events;
with Appserver.HTTP.Channels.WebSockets;
with Appserver.HTTP.Compression;
with Channel_Filters;

package body Channel_Services is

   use Ada.Strings.Unbounded;
   use Appserver.HTTP;
   use Appserver.HTTP.Channels;

   package Sockets renames Appserver.HTTP.Channels.WebSockets;

   Streams : Group;
   Room    : Group;

   protected State is
      procedure Note_Open;
      procedure Note_Close (Code : Sockets.Close_Code; Reason : String);
      procedure Note_Release;
      procedure Note_Flood (Count : Natural; Result : Send_Result);
      function Image return String;
   private
      Opened, Closed, Released : Natural := 0;
      Latest                   : Unbounded_String;
      Flood                    : Unbounded_String;
   end State;

   protected body State is

      procedure Note_Open is
      begin
         Opened := Opened + 1;
      end Note_Open;

      procedure Note_Close (Code : Sockets.Close_Code; Reason : String) is
      begin
         Closed := Closed + 1;
         Latest := To_Unbounded_String (Code'Image & " " & Reason);
      end Note_Close;

      procedure Note_Release is
      begin
         Released := Released + 1;
      end Note_Release;

      procedure Note_Flood (Count : Natural; Result : Send_Result) is
      begin
         Flood := To_Unbounded_String (Count'Image & " " & Result'Image);
      end Note_Flood;

      function Image return String is
        (Opened'Image & Closed'Image & Released'Image & To_String (Latest) & To_String (Flood));

   end State;

   --------------
   -- Sessions --
   --------------

   type Session_Kind is (Echo, To_Room, Slow, Raising, Closing, Hello, Flood, Own);

   type Test_Session (Kind : Session_Kind) is limited new Sockets.Session with record
      Is_Running : Boolean := False;
      --  To detect concurrent calls for one connection; only used by Own
   end record;

   overriding procedure On_Open (Self : in out Test_Session; Socket : Channel);
   overriding procedure On_Message
     (Self    : in out Test_Session;
      Socket  : Channel;
      Message : String;
      Kind    : Sockets.Message_Kind);
   overriding procedure On_Close
     (Self   : in out Test_Session;
      Socket : Channel;
      Code   : Sockets.Close_Code;
      Reason : String);
   overriding procedure Close (Self : not null access Test_Session);

   type Session_Access is access all Test_Session;
   procedure Free is new Ada.Unchecked_Deallocation (Test_Session, Session_Access);

   Shared : array (Session_Kind) of Session_Access;

   Piece : constant String := [1 .. 1_000 => 'x'];

   procedure Fill (Socket : Channel; Item : HTTP.Channels.Message) is
      Result : Send_Result;
      Count  : Natural := 0;
   begin
      loop
         Socket.Send (Item, Result);
         exit when Result /= Queued;
         Count := Count + 1;
      end loop;
      State.Note_Flood (Count, Result);
   end Fill;

   overriding procedure On_Open (Self : in out Test_Session; Socket : Channel) is
      Result : Send_Result;
   begin
      State.Note_Open;
      case Self.Kind is
         when To_Room => Room.Add (Socket);
         when Hello   => Sockets.Send (Socket, "hello", Sockets.Text, Result);
         when Flood   => Fill (Socket, Sockets.Text_Message (Piece));
         when others  => null;
      end case;
   end On_Open;

   procedure Reply (Socket : Channel; Message : String; Kind : Sockets.Message_Kind) is
      Result : Send_Result;
   begin
      Sockets.Send (Socket, Message, Kind, Result);
      if Result = Full then
         Socket.Disconnect;
      end if;
   end Reply;

   overriding procedure On_Message
     (Self    : in out Test_Session;
      Socket  : Channel;
      Message : String;
      Kind    : Sockets.Message_Kind) is
   begin
      case Self.Kind is
         when Echo | Hello | Flood =>
            Reply (Socket, Message, Kind);
         when To_Room =>
            Room.Broadcast (Sockets.Text_Message (Message));
         when Slow =>
            delay 0.02;
            Reply (Socket, Message, Kind);
         when Own =>
            if Self.Is_Running then
               raise Program_Error with "two calls at the same time";
            end if;
            Self.Is_Running := True;
            delay 0.001;
            Reply (Socket, Message, Kind);
            Self.Is_Running := False;
         when Raising =>
            if Message = "!" then
               raise Constraint_Error with "as the test requested";
            end if;
            Reply (Socket, Message, Kind);
         when Closing =>
            Sockets.Close
              (Socket,
               Sockets.Close_Code'Value (Message (Message'First .. Message'First + 3)),
               Message (Message'First + 5 .. Message'Last));
            Reply (Socket, "after the end", Sockets.Text);
      end case;
   end On_Message;

   overriding procedure On_Close
     (Self   : in out Test_Session;
      Socket : Channel;
      Code   : Sockets.Close_Code;
      Reason : String)
   is
      Result : Send_Result;
   begin
      Sockets.Send (Socket, "too late", Sockets.Text, Result);
      pragma Assert (Result = Closed and then not Socket.Is_Open);
      if Self.Kind = To_Room then
         Room.Remove (Socket);
      end if;
      State.Note_Close (Code, Reason);
   end On_Close;

   overriding procedure Close (Self : not null access Test_Session) is
      Own_Session : Session_Access;
   begin
      State.Note_Release;
      if Self.Kind = Own then
         Own_Session := Self.all'Unchecked_Access;
         Free (Own_Session);
      end if;
   end Close;

   function Socket_Response (Request : HTTP.Request; Kind : Session_Kind) return Response is
     (Sockets.Open
        (Request,
         (if Kind = Own then new Test_Session (Own)
          else Sockets.Session_Reference (Shared (Kind))),
         Origins => "https://friend.example", Protocols => "superchat chat",
         Options => Options));

   -------------
   -- Streams --
   -------------

   function Stream_Response (Request : HTTP.Request) return Response is
      Stream : Channel;
      Result : Send_Result;
   begin
      return Response : constant HTTP.Response := Events.Open (Request, Stream, Options) do
         Events.Send
           (Stream, "last=" & Events.Last_Event_ID (Request), Result, Name => "hello");
         Streams.Add (Stream);
      end return;
   end Stream_Response;

   function Three (Request : HTTP.Request) return Response is
      Stream : Channel;
      Result : Send_Result;
   begin
      return Response : constant HTTP.Response := Events.Open (Request, Stream, Options) do
         Stream.Send
           (Events.Event ("one" & ASCII.LF & "two", Name => "first", ID => "1", Retry => 0.5),
            Result);
         Stream.Send
           (Events.Event ("a" & ASCII.CR & "b" & ASCII.CR & ASCII.LF & "c" & ASCII.LF), Result);
         Stream.Send (Events.Comment ("no event"), Result);
         Stream.Send (Events.Event (""), Result);
         Events.Close (Stream);
         Events.Send (Stream, "too late", Result);
         pragma Assert (Result = Closed);
      end return;
   end Three;

   function Lost (Request : HTTP.Request) return Response is
      Stream  : Channel;
      Ignored : constant Response := Events.Open (Request, Stream, Options);
   begin
      Streams.Add (Stream);
      return Status_Only (Not_Found);
   end Lost;

   function Stream_Flood (Request : HTTP.Request) return Response is
      Stream : Channel;
   begin
      return Response : constant HTTP.Response := Events.Open (Request, Stream, Options) do
         Fill (Stream, Events.Event (Piece));
      end return;
   end Stream_Flood;

   function Tell_All (Request : HTTP.Request) return Response is
   begin
      if Request.Path_Is ("/tell") then
         Room.Broadcast (Sockets.Text_Message (Request.Content));
      else
         Streams.Broadcast
           (Events.Event
              (Request.Content, Name => Request.Parameter ("name"),
               ID => Request.Parameter ("id")));
      end if;
      return Status_Only (No_Content);
   end Tell_All;

   --------------
   -- Requests --
   --------------

   Page : aliased constant String :=
     "<!doctype html><title>Channels</title><p>Channels</p>" & ASCII.LF;
   HTML : aliased constant String := "text/html; charset=utf-8";

   Greeting : aliased constant String := "Hello World!";

   function Text (Request : HTTP.Request; Content : String) return Response is
   begin
      Request.Builder.Append (Content);
      return Text_Response (Plain_Text'Access);
   end Text;

   overriding function Respond
     (Self : in out Channel_Service; Request : HTTP.Request) return HTTP.Response
   is
      pragma Unreferenced (Self);
      Path : constant String := Request.Path;
   begin
      return
        (if Path = "/events" then Stream_Response (Request)
         elsif Path = "/events/three" then Three (Request)
         elsif Path = "/events/lost" then Lost (Request)
         elsif Path = "/events/flood" then Stream_Flood (Request)
         elsif Path in "/broadcast" | "/tell" then Tell_All (Request)
         elsif Path = "/socket" then Socket_Response (Request, Echo)
         elsif Path = "/socket/room" then Socket_Response (Request, To_Room)
         elsif Path = "/socket/slow" then Socket_Response (Request, Slow)
         elsif Path = "/socket/raise" then Socket_Response (Request, Raising)
         elsif Path = "/socket/close" then Socket_Response (Request, Closing)
         elsif Path = "/socket/hello" then Socket_Response (Request, Hello)
         elsif Path = "/socket/flood" then Socket_Response (Request, Flood)
         elsif Path = "/socket/own" then Socket_Response (Request, Own)
         elsif Path = "/state" then Text (Request, State.Image)
         elsif Path = "/counts" then Text (Request, Streams.Count'Image & Room.Count'Image)
         elsif Path = "/page" then Static_Response (HTML'Access, Page'Access)
         else Static_Response (Plain_Text'Access, Greeting'Access));
   end Respond;

   Inner : aliased Channel_Service;
   Gzip  : aliased HTTP.Compression.Gzip_Filter (Next => Inner'Access, Compressors => 2);
   Outer : aliased Channel_Filters.Marking_Filter (Next => Gzip'Access);

   function Filtered return HTTP.Services.Service_Reference is (Outer'Access);

begin
   for Kind in Session_Kind loop
      Shared (Kind) := new Test_Session (Kind);
   end loop;
end Channel_Services;
