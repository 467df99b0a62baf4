--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  TLS 1.2 and 1.3 for the listeners of Appserver.HTTP.Server. Programs that use this package are
--  linked with OpenSSL 3.
--
--     Secure : aliased HTTP.TLS.TLS_Transport;
--     …
--     Secure.Load ([HTTP.TLS.Certificate ("/etc/ssl/shop.pem", "/etc/ssl/shop.key")]);
--     Server.Start
--       (Hello'Access,
--        Listeners => [HTTP.Listeners.TCP_Listener ("0.0.0.0", 443, Secure'Access)]);
--     …
--     Secure.Reload;
--
--  Only cipher suites with forward secrecy and authenticated encryption are enabled. Compression,
--  renegotiation and early data are not. ALPN selects http/1.1; a client that offers only other
--  protocols is rejected (RFC 7301, 3.2).

pragma Ada_2022;

with Appserver.HTTP.Transports;

private with Ada.Containers.Indefinite_Hashed_Maps;
private with Ada.Finalization;
private with Ada.Strings.Hash;
private with Ada.Strings.Unbounded;
private with Interfaces.C;
private with System;

package Appserver.HTTP.TLS is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   Configuration_Error : exception;
   --  A certificate, a key, or another setting cannot be used. The message of the exception
   --  contains the file and the reason.

   type Certificate_Files is private;
   --  The files of a certificate and its private key

   type Certificate_List is array (Positive range <>) of Certificate_Files;

   function Certificate (Chain, Key : String) return Certificate_Files;
   --  Names the files of a certificate. The certificate is used for the DNS names in it
   --  (subjectAltName). A name such as "*.shop.example" matches one label in place of "*".
   --  @param Chain the path of a PEM file with the certificate, followed by the certificates of the
   --  intermediate authorities
   --  @param Key the path of a PEM file with the private key, which must not be encrypted
   --  @return the files

   type Client_Policy is (Ignored, Optional, Required);
   --  The treatment of client certificates. Optional: a client without a certificate is accepted.
   --  With Optional and Required, a client with an invalid certificate is rejected.

   type Protocol_Version is (TLS_1_2, TLS_1_3);

   type Warning_Report is access procedure (Message : String);
   --  Receives a warning about a certificate

   procedure Warn_On_Standard_Error (Message : String);
   --  Writes a warning to standard error.
   --  @param Message the warning

   type Settings is record
      Min_Version     : Protocol_Version := TLS_1_2;
      Ticket_Lifetime : Positive := 7_200;
      --  The time in seconds for which a client can resume a session. The keys that encrypt session
      --  tickets are replaced after this time, and are then still accepted for the same time.
      Report          : Warning_Report := Warn_On_Standard_Error'Access;
      --  The procedure that receives warnings; may be null
   end record;

   type TLS_Transport is limited new Transports.Transport with private;
   --  Certificates, settings, and the keys of session tickets, for any number of listeners and
   --  servers, which the transport must outlive. Before Load, servers close all connections.

   procedure Load
     (Self                : in out TLS_Transport;
      Certificates        : Certificate_List;
      Client_Certificates : Client_Policy := Ignored;
      Client_Authorities  : String := "";
      Options             : Settings := (others => <>))
     with Pre  => (Certificates'Length > 0
                     and then (Client_Certificates /= Ignored) = (Client_Authorities /= ""))
                  or else raise Misuse_Error with
                    "there is no certificate, or Client_Authorities contradicts "
                    & "Client_Certificates",
          Post => Self.Is_Loaded;
   --  Reads certificates and keys. New connections use them; existing connections are not affected.
   --  An expired certificate is used, with a warning. If Load fails, the previous certificates and
   --  settings remain.
   --  @param Self the transport
   --  @param Certificates the certificates. The first one is for clients that request no host, or a
   --  host without a certificate. If multiple certificates contain the same name, the first is
   --  used.
   --  @param Client_Certificates the treatment of client certificates
   --  @param Client_Authorities the path of a PEM file with the certificates of the authorities
   --  that sign client certificates; empty if these are ignored
   --  @param Options the settings
   --  @exception Configuration_Error a file is missing, unreadable or invalid, or a key does not
   --  match its certificate

   procedure Reload (Self : in out TLS_Transport)
     with Pre => Self.Is_Loaded or else raise Misuse_Error with "no certificate was loaded";
   --  Reads the files again, after a certificate was renewed. Clients can still resume sessions,
   --  unless the authorities of client certificates have changed. If Reload fails, the previous
   --  certificates remain. Any task may call this procedure.
   --  @param Self the transport
   --  @exception Configuration_Error a file is missing, unreadable or invalid, or a key does not
   --  match its certificate

   function Is_Loaded (Self : TLS_Transport) return Boolean;
   --  @param Self the transport
   --  @return True after Load

   type Handshake_Counts is record
      Full    : Long_Long_Integer := 0;
      Resumed : Long_Long_Integer := 0;
      Failed  : Long_Long_Integer := 0;
      --  Clients that disconnected before the end of a handshake, or were too slow, are not counted
   end record;

   function Handshakes (Self : TLS_Transport) return Handshake_Counts;
   --  @param Self the transport
   --  @return the numbers of handshakes since the program started

   --------------
   -- Requests --
   --------------

   function Client_Subject (Request : HTTP.Request) return String;
   --  Returns the subject of the client's certificate, which the server has verified.
   --  @param Request the request
   --  @return the distinguished name (RFC 4514), such as "CN=ada,O=Shop"; empty if the client has
   --  no certificate

   function Version (Request : HTTP.Request) return String;
   --  @param Request the request
   --  @return the version of the protocol, "TLSv1.2" or "TLSv1.3"; empty without TLS

   -----------------
   -- For servers --
   -----------------

   overriding function New_Session
     (Self : in out TLS_Transport; Socket : Descriptor) return Transports.Session_Reference;
   --  Creates the session of an accepted connection.
   --  @param Self the transport
   --  @param Socket the socket
   --  @return the session; null if there is not enough memory, or before Load

private

   use Ada.Strings.Unbounded;

   type Certificate_Files is record
      Chain, Key : Unbounded_String;
   end record;

   function Certificate (Chain, Key : String) return Certificate_Files is
     (To_Unbounded_String (Chain), To_Unbounded_String (Key));

   type Certificate_List_Reference is access Certificate_List;

   ----------------------
   -- Loaded contexts --
   ----------------------

   type Context_Address is new System.Address;
   --  An SSL_CTX of OpenSSL

   No_Context : constant Context_Address := Context_Address (System.Null_Address);

   package Host_Maps is new Ada.Containers.Indefinite_Hashed_Maps
     (String, Context_Address, Ada.Strings.Hash, "=");

   type Context_List is array (Positive range <>) of Context_Address;

   type Generation (Count : Positive) is limited record
      Uses     : Natural := 1;
      --  The number of sessions, plus one if new connections use this generation
      Contexts : Context_List (1 .. Count) := [others => No_Context];
      --  The context of each certificate
      Hosts    : Host_Maps.Map;
   end record;
   --  The result of loading all files once

   type Generation_Reference is access all Generation;

   protected type Generation_Store is

      procedure Get (Result : out Generation_Reference);
      --  Returns the generation for a new session, or null

      procedure Put_Back (Old : not null Generation_Reference; Is_Unused : out Boolean);
      --  Called at the end of a session. Sets Is_Unused to True if the generation must be freed.

      procedure Replace
        (By        : Generation_Reference;
         Old       : out Generation_Reference;
         Is_Unused : out Boolean);
      --  Sets the generation for new sessions

      function Has_One return Boolean;

      procedure Note_Success (Is_Resumed : Boolean);
      procedure Note_Failure;
      function Counts return Handshake_Counts;

   private
      Current    : Generation_Reference := null;
      All_Counts : Handshake_Counts;
   end Generation_Store;

   ------------------
   -- Ticket keys --
   ------------------

   type Bytes is array (Positive range <>) of aliased Interfaces.C.unsigned_char
     with Convention => C;

   type Ticket_Key is record
      Is_Set  : Boolean := False;
      Since   : Byte_Count := 0;
      --  The time at which the key was made, in milliseconds
      Name    : Bytes (1 .. 16) := [others => 0];
      Cipher  : Bytes (1 .. 32) := [others => 0];
      MAC     : Bytes (1 .. 32) := [others => 0];
   end record;

   protected type Key_Store is

      procedure Set_Lifetime (Milliseconds : Byte_Count);

      procedure Get_Current (Now : Byte_Count; Key : out Ticket_Key);
      --  Returns the key for new tickets, which is replaced after its lifetime. Key.Is_Set is False
      --  if OpenSSL has no random numbers.

      procedure Find
        (Now : Byte_Count; Name : Bytes; Key : out Ticket_Key; Is_Current : out Boolean);
      --  Returns the key with the name Name. Key.Is_Set is False if there is no such key, or if it
      --  is too old.

   private
      Lifetime          : Byte_Count := 7_200_000;
      Current, Previous : Ticket_Key;
   end Key_Store;

   protected type Mutex is
      entry Acquire;
      procedure Release;
   private
      Is_Free : Boolean := True;
   end Mutex;
   --  Prevents concurrent calls of Load and Reload

   type TLS_Transport is limited new Ada.Finalization.Limited_Controlled
     and Transports.Transport
   with record
      Loading      : Mutex;
      Store        : Generation_Store;
      Keys         : Key_Store;
      Certificates : Certificate_List_Reference := null;
      Policy       : Client_Policy := Ignored;
      Authorities  : Unbounded_String;
      Options      : Settings;
   end record;

   overriding procedure Finalize (Self : in out TLS_Transport);

   function Is_Loaded (Self : TLS_Transport) return Boolean is (Self.Store.Has_One);
   function Handshakes (Self : TLS_Transport) return Handshake_Counts is (Self.Store.Counts);

end Appserver.HTTP.TLS;
