--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  WebSocket connections (RFC 6455), without extensions. The server calls a session, which the
--  program implements, one call at a time and in order, from the tasks that also run handlers.
--
--     type Echo is limited new Channels.WebSockets.Session with null record;
--
--     overriding procedure On_Message
--       (Self    : in out Echo;
--        Socket  : Channels.Channel;
--        Message : String;
--        Kind    : Channels.WebSockets.Message_Kind);
--
--     The_Echo : aliased Echo;
--     …
--     return Channels.WebSockets.Open (Request, The_Echo'Access);
--
--  The extension permessage-deflate (RFC 7692) is not supported: each connection would need up to
--  300 kB of memory for its windows, compression of secrets together with data of an attacker
--  reveals the secrets, and a broadcast could no longer share its bytes.

pragma Ada_2022;

package Appserver.HTTP.Channels.WebSockets is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   -------------
   -- Session --
   -------------

   type Message_Kind is (Text, Binary);

   type Close_Code is range 1_000 .. 4_999;

   Normal_Closure   : constant Close_Code := 1_000;
   Going_Away       : constant Close_Code := 1_001;
   Protocol_Error   : constant Close_Code := 1_002;
   Unsupported_Data : constant Close_Code := 1_003;
   No_Code          : constant Close_Code := 1_005;
   Abnormal_Closure : constant Close_Code := 1_006;
   Invalid_Content  : constant Close_Code := 1_007;
   Policy_Violation : constant Close_Code := 1_008;
   Message_Too_Big  : constant Close_Code := 1_009;
   Internal_Failure : constant Close_Code := 1_011;
   Try_Again_Later  : constant Close_Code := 1_013;

   function Can_Be_Sent (Code : Close_Code) return Boolean is
     (Code in 1_000 .. 1_003 | 1_007 .. 1_014 | 3_000 .. 4_999);
   --  @param Code a code
   --  @return True if a program may close a connection with Code (RFC 6455, 7.4)

   type Session is limited interface;
   --  The program's side of a connection. An object may serve one connection or many. The
   --  procedures may block, like a handler. If one raises an exception, the server reports it, and
   --  closes the connection with Internal_Failure.

   procedure On_Open (Self : in out Session; Socket : Channel) is null;
   --  Begins the session. The first call for a connection.
   --  @param Self the session
   --  @param Socket the connection; a copy may be kept to send from other tasks

   procedure On_Message
     (Self : in out Session; Socket : Channel; Message : String; Kind : Message_Kind) is abstract;
   --  Receives a message.
   --  @param Self the session
   --  @param Socket the connection
   --  @param Message the message; valid UTF-8 if it is text. Its first index is not necessarily 1.
   --  @param Kind the kind of the message

   procedure On_Close
     (Self : in out Session; Socket : Channel; Code : Close_Code; Reason : String) is null;
   --  Ends the session. Called once for each call of On_Open, when the connection has ended.
   --  @param Self the session
   --  @param Socket the connection
   --  @param Code the client's code; the server's code if it ended the connection because of an
   --  error; No_Code if the client sent none; Abnormal_Closure if the connection was lost
   --  @param Reason the client's reason in UTF-8; usually empty

   procedure Close (Self : not null access Session) is null;
   --  Releases the session. This is always the last call for a connection, even if the connection
   --  was never opened. The server no longer refers to the session, so Close may free it. Close
   --  must not block. Exceptions are ignored.
   --  @param Self the session

   type Session_Reference is access all Session'Class;

   -------------
   -- Opening --
   -------------

   function Open
     (Request   : HTTP.Request;
      Session   : not null Session_Reference;
      Origins   : String := "";
      Protocols : String := "";
      Options   : Settings := Default_Settings) return Response;
   --  Checks the handshake, and returns the response that opens a connection. Otherwise closes the
   --  session, and returns 405 for methods other than GET, 426 for a request that is not a
   --  handshake of version 13, 400 for an invalid handshake, or 403 for an origin that is not
   --  allowed. A page of another site could otherwise open a connection with the user's cookies,
   --  and read the responses. If all channels of the server are in use, the server responds with
   --  503.
   --  @param Request the request; its builder must not have content
   --  @param Session the session, which must exist until its Close is called
   --  @param Origins the allowed origins of pages, separated by spaces, such as
   --  "https://shop.example"; "*" allows all. Always allowed are requests from pages of the same
   --  host, and requests without an origin, which browsers never send.
   --  @param Protocols the subprotocols of the program, separated by spaces, in order of
   --  preference. The connection uses the first subprotocol in this list that the client offers.
   --  @param Options the limits of the channel
   --  @return the response

   function Chosen_Protocol (Request : HTTP.Request; Protocols : String) return String;
   --  @param Request the request
   --  @param Protocols the subprotocols of the program, as in Open
   --  @return the subprotocol of the connection; empty if there is none

   -------------
   -- Sending --
   -------------

   function Text_Message (Text : String) return Message
     with Pre => Is_UTF_8 (Text) or else raise Misuse_Error with "the text is not valid UTF-8";
   --  Encodes a text message.
   --  @param Text the text in UTF-8
   --  @return the encoded message

   function Binary_Message (Bytes : String) return Message;
   --  Encodes a binary message.
   --  @param Bytes the bytes
   --  @return the encoded message

   function Is_UTF_8 (Text : String) return Boolean;
   --  @param Text a text
   --  @return True if the text is valid UTF-8

   procedure Send
     (Socket : Channel; Message : String; Kind : Message_Kind; Result : out Send_Result)
     with Pre => (not Socket.Is_Null and then (Kind = Binary or else Is_UTF_8 (Message)))
                 or else raise Misuse_Error with
                   "the channel is null, or the text is not valid UTF-8";
   --  Sends a message to one client.
   --  @param Socket the connection
   --  @param Message the message
   --  @param Kind the kind of the message
   --  @param Result set to Queued, Full or Closed
   --  @exception Storage_Error there is not enough memory

   Max_Reason_Length : constant := 123;
   --  The maximum length of a reason in bytes

   procedure Close
     (Socket : Channel; Code : Close_Code := Normal_Closure; Reason : String := "")
     with Pre => (not Socket.Is_Null
                  and then Can_Be_Sent (Code)
                  and then Reason'Length <= Max_Reason_Length
                  and then Is_UTF_8 (Reason))
                 or else raise Misuse_Error with
                   "the channel is null, or the code or the reason is invalid";
   --  Closes a connection once the queued messages have been sent. Has no effect if the connection
   --  is already closed.
   --  @param Socket the connection
   --  @param Code the code
   --  @param Reason the reason in UTF-8

end Appserver.HTTP.Channels.WebSockets;
