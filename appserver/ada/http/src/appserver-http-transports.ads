--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The interface between the servers and an implementation of encrypted connections, such as
--  Appserver.HTTP.TLS in the crate appserver_http_tls. Programs pass a transport to a listener, and
--  only servers call its operations.
--
--  Sockets are nonblocking, and so are all operations: an operation that cannot continue returns
--  the event for which the server must wait before it repeats the call. No operation raises an
--  exception. One task at a time uses a session, but not always the same task.

pragma Ada_2022;

package Appserver.HTTP.Transports is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Outcome is (Done, Wants_Input, Wants_Output, Closed, Failed);
   --  The result of an operation. Wants_Input and Wants_Output: the operation must be repeated with
   --  the same arguments when the socket has input or accepts output. Closed: the peer has ended
   --  the connection. Failed: the connection is unusable and must be closed.

   type Session is abstract tagged limited null record;
   --  The encryption of one connection

   procedure Handshake (Self : in out Session; Result : out Outcome) is abstract;
   --  Establishes the session.
   --  @param Self the session
   --  @param Result the result; Done if bytes can be received and sent

   function Is_Plain_HTTP (Self : Session) return Boolean is abstract;
   --  Explains a failed handshake.
   --  @param Self the session
   --  @return True if the client has sent a request without encryption, so that the server can
   --  respond in the same way

   procedure Receive
     (Self : in out Session; Into : out String; Count : out Natural; Result : out Outcome)
      is abstract
     with Pre'Class => Into'Length > 0;
   --  Receives and decrypts bytes.
   --  @param Self the session
   --  @param Into receives the bytes
   --  @param Count the number of received bytes; 0 unless Result is Done
   --  @param Result Done if bytes were received; otherwise the reason that none were received

   function Has_Pending (Self : Session) return Boolean is abstract;
   --  Checks for bytes that no event of the socket announces.
   --  @param Self the session
   --  @return True if the session has taken bytes from the socket that Receive can process

   procedure Send
     (Self : in out Session; Bytes : String; Count : out Natural; Result : out Outcome)
      is abstract
     with Pre'Class => Bytes'Length > 0;
   --  Encrypts and sends bytes. A repeated call may pass additional bytes.
   --  @param Self the session
   --  @param Bytes the bytes
   --  @param Count the number of bytes that were sent, from the beginning; 0 unless Result is Done
   --  @param Result the result; Done even if Count is less than the length of Bytes

   procedure Shut_Down (Self : in out Session; Result : out Outcome) is abstract;
   --  Tells the peer that everything has been sent. Has no effect after a failure, or if the peer
   --  has been told.
   --  @param Self the session
   --  @param Result Wants_Output if the call must be repeated; otherwise Done

   procedure Close (Self : not null access Session) is abstract;
   --  Frees the session. This is always the last call. The server closes the socket.
   --  @param Self the session

   type Session_Reference is access all Session'Class;

   type Transport is limited interface;
   --  An implementation of encrypted connections. Tasks call it concurrently.

   function New_Session
     (Self : in out Transport; Socket : Descriptor) return Session_Reference is abstract;
   --  Creates the session of an accepted connection.
   --  @param Self the transport
   --  @param Socket the nonblocking socket of the connection
   --  @return the session; null if there is not enough memory

   type Transport_Reference is access all Transport'Class;

end Appserver.HTTP.Transports;
