--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Characters.Handling;
with Ada.Exceptions;
with Ada.Streams.Stream_IO;
with Ada.Unchecked_Deallocation;
with Appserver.HTTP.Linux;
with Appserver.HTTP.TLS_Library;
with Interfaces.C.Strings;
with System.Address_To_Access_Conversions;

package body Appserver.HTTP.TLS is

   use Ada.Exceptions;
   use Interfaces;
   use Interfaces.C;
   use TLS_Library;
   use type Linux.Outcome;
   use type System.Address;
   use type Transports.Outcome;

   package C_Strings renames Interfaces.C.Strings;

   Nothing : constant System.Address := System.Null_Address;

   --------------
   -- Sessions --
   --------------

   Max_Input : constant := 65_536;
   --  The maximum number of bytes that one operation takes from the socket, so that a client cannot
   --  occupy a task with messages that contain no content

   Max_Messages : constant := 32;
   --  The maximum number of messages that a client may send without content in between, such as
   --  updates of keys

   Digest_Length : constant := 32;
   --  The length of a SHA-256 digest, in bytes

   type TLS_Session (Owner : not null access TLS_Transport) is
     new Transports.Session with record
      SSL          : System.Address := Nothing;
      Generation   : Generation_Reference := null;
      Socket       : Descriptor := No_File;
      Budget       : Integer := 0;
      --  The number of bytes that the current operation may still take from the socket
      Messages     : Natural := 0;
      --  The number of messages since the handshake, or since the latest content
      Is_Complete  : Boolean := False;
      --  True after the handshake
      Is_Dry       : Boolean := False;
      --  True if the latest operation could not continue without more input
      Is_At_End    : Boolean := False;
      --  True if the client has closed its side of the connection
      Is_Broken    : Boolean := False;
      --  True after a failure
      Is_Shut      : Boolean := False;
      Host         : aliased Bytes (1 .. Digest_Length) := [others => 0];
      --  The digest of the host that the client requests
      Is_Plain     : Boolean := False;
   end record;

   type TLS_Session_Reference is access all TLS_Session;

   overriding procedure Handshake (Self : in out TLS_Session; Result : out Transports.Outcome);
   overriding function Is_Plain_HTTP (Self : TLS_Session) return Boolean is (Self.Is_Plain);
   overriding procedure Receive
     (Self   : in out TLS_Session;
      Into   : out String;
      Count  : out Natural;
      Result : out Transports.Outcome);
   overriding function Has_Pending (Self : TLS_Session) return Boolean is
     (not Self.Is_Dry and then not Self.Is_Broken and then SSL_has_pending (Self.SSL) = 1);
   overriding procedure Send
     (Self   : in out TLS_Session;
      Bytes  : String;
      Count  : out Natural;
      Result : out Transports.Outcome);
   overriding procedure Shut_Down (Self : in out TLS_Session; Result : out Transports.Outcome);
   overriding procedure Close (Self : not null access TLS_Session);

   package Conversions is new System.Address_To_Access_Conversions (TLS_Session);

   function Session_At (Place : System.Address) return access TLS_Session is
     (Conversions.To_Pointer (Place));

   -------------------------
   -- Input and output --
   -------------------------

   --  OpenSSL calls these functions to receive and send encrypted bytes

   function Read_Socket (BIO, Into : System.Address; Size : int) return int
     with Convention => C;
   function Write_Socket (BIO, From : System.Address; Size : int) return int
     with Convention => C;
   function Control (BIO : System.Address; Command : int; Number : long; Pointer : System.Address)
     return long
     with Convention => C;

   function Read_Socket (BIO, Into : System.Address; Size : int) return int is
      Session : TLS_Session renames Session_At (BIO_get_data (BIO)).all;
      Bytes   : String (1 .. Natural (int'Max (Size, 0)))
        with Import, Address => Into;
      Count   : Natural := 0;
      Result  : Linux.Outcome := Linux.Would_Block;
   begin
      BIO_clear_flags (BIO, BIO_FLAGS_RWS + BIO_FLAGS_SHOULD_RETRY);
      if Session.Messages > Max_Messages then
         return -1;
      end if;
      if Session.Budget > 0 and then Bytes'Length > 0 then
         Linux.Receive (Session.Socket, Bytes, Count, Result);
         Session.Budget := Session.Budget - Count;
      end if;
      case Result is
         when Linux.Done =>
            Session.Is_At_End := Count = 0;
            return int (Count);
         when Linux.Would_Block =>
            BIO_set_flags (BIO, BIO_FLAGS_READ + BIO_FLAGS_SHOULD_RETRY);
            return -1;
         when Linux.Failed =>
            return -1;
      end case;
   end Read_Socket;

   function Write_Socket (BIO, From : System.Address; Size : int) return int is
      Session : TLS_Session renames Session_At (BIO_get_data (BIO)).all;
      Bytes   : constant String (1 .. Natural (int'Max (Size, 0)))
        with Import, Address => From;
      Count   : Natural;
      Result  : Linux.Outcome;
   begin
      BIO_clear_flags (BIO, BIO_FLAGS_RWS + BIO_FLAGS_SHOULD_RETRY);
      Linux.Send (Session.Socket, Bytes, More_Follow => False, Count => Count, Result => Result);
      case Result is
         when Linux.Done =>
            return int (Count);
         when Linux.Would_Block =>
            BIO_set_flags (BIO, BIO_FLAGS_WRITE + BIO_FLAGS_SHOULD_RETRY);
            return -1;
         when Linux.Failed =>
            return -1;
      end case;
   end Write_Socket;

   --  Nothing is buffered, so there is nothing to flush

   function Control (BIO : System.Address; Command : int; Number : long; Pointer : System.Address)
     return long
   is
      pragma Unreferenced (BIO, Number, Pointer);
   begin
      return (if Command = BIO_CTRL_FLUSH then 1 else 0);
   end Control;

   ---------------
   -- Callbacks --
   ---------------

   --  Called for each message. Counts the messages that a client sends after the handshake, and the
   --  warnings with which OpenSSL rejects attempts to renegotiate.

   procedure Note_Message
     (Is_Written, Version, Content : int;
      Message : System.Address;
      Length  : size_t;
      SSL     : System.Address;
      Session : System.Address)
     with Convention => C;

   procedure Note_Message
     (Is_Written, Version, Content : int;
      Message : System.Address;
      Length  : size_t;
      SSL     : System.Address;
      Session : System.Address)
   is
      pragma Unreferenced (Version, SSL);

      function Is_Rejection return Boolean is
         Alert : constant Bytes (1 .. 2) with Import, Address => Message;
      begin
         return Length = 2
           and then int (Alert (1)) = SSL3_AL_WARNING
           and then int (Alert (2)) /= SSL_AD_CLOSE_NOTIFY;
      end Is_Rejection;
   begin
      if Session /= Nothing
        and then Session_At (Session).Is_Complete
        and then ((Content = SSL3_RT_HANDSHAKE and then Is_Written = 0)
                  or else (Content = SSL3_RT_ALERT and then Is_Written = 1
                           and then Is_Rejection))
      then
         Session_At (Session).Messages := Session_At (Session).Messages + 1;
      end if;
   end Note_Message;

   --  Computes a SHA-256 digest

   function Digests (Data : System.Address; Length : size_t; Into : out Bytes) return Boolean is
     (EVP_Digest (Data, Length, Into'Address, Nothing, EVP_sha256, Nothing) = 1);

   --  Called with the first message of a client. A session must not be resumed for another host
   --  (RFC 6066, 3), so the keys of tickets depend on the host.

   function Note_Host (SSL, Alert, Argument : System.Address) return int
     with Convention => C;

   function Note_Host (SSL, Alert, Argument : System.Address) return int is
      pragma Unreferenced (Alert, Argument);

      Server_Name : constant := 0;
      --  The number of the extension (RFC 6066, 1.1)
      Is_Accepted : constant := 1;
      Is_Rejected : constant := 0;
      --  SSL_CLIENT_HELLO_SUCCESS and SSL_CLIENT_HELLO_ERROR

      Session : TLS_Session renames Session_At (SSL_get_ex_data (SSL, 0)).all;
      Data    : aliased System.Address := Nothing;
      Size    : aliased size_t := 0;
   begin
      if SSL_client_hello_get0_ext (SSL, Server_Name, Data'Access, Size'Access) /= 1 then
         Size := 0;
      end if;
      return (if Digests (Data, Size, Session.Host) then Is_Accepted else Is_Rejected);
   end Note_Host;

   --  Selects the certificate for the host that the client requests

   function Select_Host (SSL, Alert, Argument : System.Address) return int
     with Convention => C;

   package Generation_Conversions is new System.Address_To_Access_Conversions (Generation);

   --  Returns the context for a host; No_Context for the default

   function Context_For (Loaded : Generation; Host : String) return Context_Address is
      Name : constant String := Ada.Characters.Handling.To_Lower (Host);
      Dot  : Natural := Name'First;
      use Host_Maps;
      Place : Cursor := Loaded.Hosts.Find (Name);
   begin
      if not Has_Element (Place) then
         while Dot <= Name'Last and then Name (Dot) /= '.' loop
            Dot := Dot + 1;
         end loop;
         if Dot in Name'First + 1 .. Name'Last then
            Place := Loaded.Hosts.Find ("*" & Name (Dot .. Name'Last));
         end if;
      end if;
      return (if Has_Element (Place) then Element (Place) else No_Context);
   end Context_For;

   function Select_Host (SSL, Alert, Argument : System.Address) return int is
      pragma Unreferenced (Alert);
      use type C_Strings.chars_ptr;

      Host_Name_Kind : constant := 0;
      --  TLSEXT_NAMETYPE_host_name (RFC 6066, 3)

      Host    : constant C_Strings.chars_ptr := SSL_get_servername (SSL, Host_Name_Kind);
      Context : Context_Address := No_Context;
   begin
      if Host = C_Strings.Null_Ptr then
         return SSL_TLSEXT_ERR_NOACK;
      end if;
      Context := Context_For
        (Generation_Conversions.To_Pointer (Argument).all, C_Strings.Value (Host));
      if Context = No_Context then
         return SSL_TLSEXT_ERR_NOACK;
      end if;
      return
        (if SSL_set_SSL_CTX (SSL, System.Address (Context)) = Nothing
         then SSL_TLSEXT_ERR_ALERT_FATAL else SSL_TLSEXT_ERR_OK);
   exception
      when others =>
         return SSL_TLSEXT_ERR_ALERT_FATAL;
   end Select_Host;

   --  Selects the protocol from the client's list, in which each name follows its length

   function Select_Protocol
     (SSL           : System.Address;
      Output        : access System.Address;
      Output_Length : access unsigned_char;
      Input         : System.Address;
      Input_Length  : unsigned;
      Argument      : System.Address) return int
     with Convention => C;

   function Select_Protocol
     (SSL           : System.Address;
      Output        : access System.Address;
      Output_Length : access unsigned_char;
      Input         : System.Address;
      Input_Length  : unsigned;
      Argument      : System.Address) return int
   is
      pragma Unreferenced (SSL, Argument);

      Wanted : constant String := "http/1.1";
      List   : constant String (1 .. Natural (Input_Length)) with Import, Address => Input;
      First  : Positive := 1;
      Last   : Natural;
   begin
      while First <= List'Last loop
         Last := First + Character'Pos (List (First));
         exit when Last > List'Last;
         if List (First + 1 .. Last) = Wanted then
            Output.all        := List (First + 1)'Address;
            Output_Length.all := Wanted'Length;
            return SSL_TLSEXT_ERR_OK;
         end if;
         First := Last + 1;
      end loop;
      return SSL_TLSEXT_ERR_ALERT_FATAL;
   end Select_Protocol;

   --  Keys that are encrypted with a password cannot be used

   function No_Password (Into : System.Address; Size, Is_Writing : int; Data : System.Address)
     return int
     with Convention => C;

   function No_Password (Into : System.Address; Size, Is_Writing : int; Data : System.Address)
     return int
   is
      pragma Unreferenced (Into, Size, Is_Writing, Data);
   begin
      return -1;
   end No_Password;

   -----------------
   -- Ticket keys --
   -----------------

   protected body Key_Store is

      procedure Set_Lifetime (Milliseconds : Byte_Count) is
      begin
         Lifetime := Milliseconds;
      end Set_Lifetime;

      procedure Get_Current (Now : Byte_Count; Key : out Ticket_Key) is
         New_Key : Ticket_Key := (Is_Set => True, Since => Now, others => <>);
      begin
         if not Current.Is_Set or else Now - Current.Since >= Lifetime then
            New_Key.Is_Set :=
              RAND_bytes (New_Key.Name'Address, New_Key.Name'Length) = 1
              and then RAND_bytes (New_Key.Cipher'Address, New_Key.Cipher'Length) = 1
              and then RAND_bytes (New_Key.MAC'Address, New_Key.MAC'Length) = 1;
            if New_Key.Is_Set then
               Previous := Current;
               Current  := New_Key;
            end if;
            Key := New_Key;
         else
            Key := Current;
         end if;
      end Get_Current;

      procedure Find
        (Now : Byte_Count; Name : Bytes; Key : out Ticket_Key; Is_Current : out Boolean) is
      begin
         --  A ticket was made at most Lifetime after its key
         Is_Current := Current.Is_Set and then Current.Name = Name;
         Key := (if Is_Current then Current
                 elsif Previous.Is_Set and then Previous.Name = Name then Previous
                 else (others => <>));
         if Key.Is_Set and then Now - Key.Since >= 2 * Lifetime then
            Key := (others => <>);
         end if;
      end Find;

   end Key_Store;

   --  Encrypts or decrypts a ticket, with AES-256-CBC and HMAC-SHA-256 (RFC 5077, 4)

   function Use_Ticket_Key
     (SSL, Key_Name, IV, Cipher, MAC : System.Address; Is_New : int) return int
     with Convention => C;

   Has_Failed   : constant := -1;
   Is_Unknown   : constant := 0;
   Is_Valid     : constant := 1;
   Is_Renewable : constant := 2;
   --  Results of the callback

   IV_Length : constant := 16;

   Key_Name_Text    : aliased constant char_array := To_C ("key");
   Digest_Name_Text : aliased constant char_array := To_C ("digest");
   Digest_Text      : aliased constant char_array := To_C ("sha256");

   function Set_Up
     (Key    : Ticket_Key;
      Host   : Bytes;
      IV, Cipher, MAC : System.Address;
      Is_New : Boolean) return Boolean
   is
      MAC_Text   : aliased Bytes (1 .. 2 * Digest_Length);
      MAC_Key    : aliased Bytes (1 .. Digest_Length);
      Parameters : aliased constant array (1 .. 3) of OSSL_Parameter :=
        [(Key    => Key_Name_Text'Address,
          Kind   => OSSL_PARAM_OCTET_STRING,
          Data   => MAC_Key'Address,
          Size   => MAC_Key'Length,
          others => <>),
         (Key    => Digest_Name_Text'Address,
          Kind   => OSSL_PARAM_UTF8_STRING,
          Data   => Digest_Text'Address,
          Size   => Digest_Text'Length - 1,
          others => <>),
         (others => <>)];
   begin
      MAC_Text (1 .. Digest_Length) := Key.MAC;
      MAC_Text (Digest_Length + 1 .. MAC_Text'Last) := Host;
      return Result : constant Boolean :=
        Digests (MAC_Text'Address, MAC_Text'Length, MAC_Key)
        and then EVP_MAC_CTX_set_params (MAC, Parameters'Address) = 1
        and then
          (if Is_New
           then EVP_EncryptInit_ex2 (Cipher, EVP_aes_256_cbc, Key.Cipher'Address, IV, Nothing)
           else EVP_DecryptInit_ex2 (Cipher, EVP_aes_256_cbc, Key.Cipher'Address, IV, Nothing))
          = 1
      do
         OPENSSL_cleanse (MAC_Text'Address, MAC_Text'Length);
         OPENSSL_cleanse (MAC_Key'Address, MAC_Key'Length);
      end return;
   end Set_Up;

   function Use_Ticket_Key
     (SSL, Key_Name, IV, Cipher, MAC : System.Address; Is_New : int) return int
   is
      Session    : TLS_Session renames Session_At (SSL_get_ex_data (SSL, 0)).all;
      Name       : Bytes (1 .. 16) with Import, Address => Key_Name;
      Now        : constant Byte_Count := Linux.Milliseconds;
      Key        : aliased Ticket_Key;
      Is_Current : Boolean;
      Result     : int := Has_Failed;
   begin
      if Is_New = 1 then
         Session.Owner.Keys.Get_Current (Now, Key);
         if Key.Is_Set
           and then RAND_bytes (IV, IV_Length) = 1
           and then Set_Up (Key, Session.Host, IV, Cipher, MAC, Is_New => True)
         then
            Name   := Key.Name;
            Result := Is_Valid;
         end if;
      else
         Session.Owner.Keys.Find (Now, Name, Key, Is_Current);
         if not Key.Is_Set then
            Result := Is_Unknown;
         elsif Set_Up (Key, Session.Host, IV, Cipher, MAC, Is_New => False) then
            Result := (if Is_Current then Is_Valid else Is_Renewable);
         end if;
      end if;
      OPENSSL_cleanse (Key'Address, Key'Size / 8);
      return Result;
   exception
      when others =>
         return Has_Failed;
   end Use_Ticket_Key;

   -----------------
   -- Generations --
   -----------------

   protected body Generation_Store is

      procedure Get (Result : out Generation_Reference) is
      begin
         Result := Current;
         if Result /= null then
            Result.Uses := Result.Uses + 1;
         end if;
      end Get;

      procedure Put_Back (Old : not null Generation_Reference; Is_Unused : out Boolean) is
      begin
         Old.Uses  := Old.Uses - 1;
         Is_Unused := Old.Uses = 0;
      end Put_Back;

      procedure Replace
        (By        : Generation_Reference;
         Old       : out Generation_Reference;
         Is_Unused : out Boolean) is
      begin
         Old       := Current;
         Current   := By;
         Is_Unused := False;
         if Old /= null then
            Put_Back (Old, Is_Unused);
         end if;
      end Replace;

      function Has_One return Boolean is (Current /= null);

      procedure Note_Success (Is_Resumed : Boolean) is
      begin
         if Is_Resumed then
            All_Counts.Resumed := All_Counts.Resumed + 1;
         else
            All_Counts.Full := All_Counts.Full + 1;
         end if;
      end Note_Success;

      procedure Note_Failure is
      begin
         All_Counts.Failed := All_Counts.Failed + 1;
      end Note_Failure;

      function Counts return Handshake_Counts is (All_Counts);

   end Generation_Store;

   protected body Mutex is

      entry Acquire when Is_Free is
      begin
         Is_Free := False;
      end Acquire;

      procedure Release is
      begin
         Is_Free := True;
      end Release;

   end Mutex;

   procedure Free_Memory is new Ada.Unchecked_Deallocation (Generation, Generation_Reference);
   procedure Free is
     new Ada.Unchecked_Deallocation (Certificate_List, Certificate_List_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (TLS_Session, TLS_Session_Reference);

   --  OpenSSL counts the references of its connections to a context

   procedure Free (Old : in out Generation_Reference) is
   begin
      for Context of Old.Contexts loop
         SSL_CTX_free (System.Address (Context));
      end loop;
      Free_Memory (Old);
   end Free;

   procedure Put_Back (Self : in out TLS_Transport; Old : in out Generation_Reference) is
      Is_Unused : Boolean;
   begin
      if Old /= null then
         Self.Store.Put_Back (Old, Is_Unused);
         if Is_Unused then
            Free (Old);
         end if;
      end if;
   end Put_Back;

   procedure Replace (Self : in out TLS_Transport; By : Generation_Reference) is
      Old       : Generation_Reference;
      Is_Unused : Boolean;
   begin
      Self.Store.Replace (By, Old, Is_Unused);
      if Is_Unused then
         Free (Old);
      end if;
   end Replace;

   -------------
   -- Loading --
   -------------

   procedure Warn_On_Standard_Error (Message : String) is
   begin
      Linux.Write_Error (Message & ASCII.LF);
   end Warn_On_Standard_Error;

   procedure Warn (Report : Warning_Report; Message : String) is
   begin
      if Report /= null then
         Report (Message);
      end if;
   exception
      when others =>
         null;
   end Warn;

   --  Raises Configuration_Error with OpenSSL's first reason

   procedure Fail (Message : String) with No_Return;

   procedure Fail (Message : String) is
      use type C_Strings.chars_ptr;
      Reason : constant C_Strings.chars_ptr := ERR_reason_error_string (ERR_peek_error);
   begin
      raise Configuration_Error with
        Message & (if Reason = C_Strings.Null_Ptr then "" else ": " & C_Strings.Value (Reason));
   end Fail;

   procedure Check (Is_OK : Boolean; Message : String) is
   begin
      if not Is_OK then
         Fail (Message);
      end if;
   end Check;

   Max_File_Length : constant := 2 ** 20;

   --  Reads a file, whose errors the system explains better than OpenSSL

   function Content_Of (Path : String) return Unbounded_String is
      use Ada.Streams;

      File   : Stream_IO.File_Type;
      Piece  : Stream_Element_Array (1 .. 4_096);
      Last   : Stream_Element_Offset;
      Result : Unbounded_String;
   begin
      Stream_IO.Open (File, Stream_IO.In_File, Path);
      loop
         Stream_IO.Read (File, Piece, Last);
         exit when Last < Piece'First;
         for K in 1 .. Last loop
            Append (Result, Character'Val (Piece (K)));
         end loop;
         if Length (Result) > Max_File_Length then
            raise Configuration_Error with Path & " is too large";
         end if;
      end loop;
      Stream_IO.Close (File);
      return Result;
   exception
      when Stream_IO.Name_Error =>
         raise Configuration_Error with Path & " does not exist";
      when Error : others =>
         if Stream_IO.Is_Open (File) then
            Stream_IO.Close (File);
         end if;
         if Exception_Identity (Error) = Configuration_Error'Identity then
            raise;
         end if;
         raise Configuration_Error with "cannot read " & Path;
   end Content_Of;

   procedure Load_Certificate
     (Context : System.Address; Files : Certificate_Files; Report : Warning_Report)
   is
      Chain       : constant String := To_String (Files.Chain);
      Key         : constant String := To_String (Files.Key);
      Certificate : System.Address;
      Text        : Unbounded_String;
   begin
      Text := Content_Of (Chain);
      Text := Content_Of (Key);
      if Index (Text, "ENCRYPTED") > 0 then
         raise Configuration_Error with Key & " is encrypted with a password";
      end if;
      ERR_clear_error;
      Check
        (SSL_CTX_use_certificate_chain_file (Context, To_C (Chain)) = 1,
         Chain & " contains no usable certificate in PEM format");
      ERR_clear_error;
      Check
        (SSL_CTX_use_PrivateKey_file (Context, To_C (Key), SSL_FILETYPE_PEM) = 1,
         Key & " contains no usable private key in PEM format");
      --  OpenSSL has a place for each type of key, and so accepts the key of another certificate
      if SSL_CTX_check_private_key (Context) /= 1 then
         raise Configuration_Error with Key & " does not match the certificate in " & Chain;
      end if;
      Certificate := SSL_CTX_get0_certificate (Context);
      if X509_cmp_current_time (X509_get0_notAfter (Certificate)) < 0 then
         Warn (Report, "the certificate in " & Chain & " has expired");
      elsif X509_cmp_current_time (X509_get0_notBefore (Certificate)) > 0 then
         Warn (Report, "the certificate in " & Chain & " is not valid yet");
      end if;
   end Load_Certificate;

   --  Adds the DNS names of a certificate. Returns their number.

   function Add_Hosts (Loaded : in out Generation; Context : Context_Address) return Natural is
      Names  : constant System.Address := X509_get_ext_d2i
        (SSL_CTX_get0_certificate (System.Address (Context)), NID_subject_alt_name, Nothing,
         Nothing);
      Kind   : aliased int;
      Value  : System.Address;
      Result : Natural := 0;
   begin
      if Names = Nothing then
         return 0;
      end if;
      for K in 0 .. OPENSSL_sk_num (Names) - 1 loop
         Value := GENERAL_NAME_get0_value (OPENSSL_sk_value (Names, K), Kind'Access);
         if Kind = GEN_DNS then
            declare
               Text : constant String (1 .. Natural (ASN1_STRING_length (Value)))
                 with Import, Address => ASN1_STRING_get0_data (Value);
               Name : constant String := Ada.Characters.Handling.To_Lower (Text);
            begin
               Result := Result + 1;
               if not Loaded.Hosts.Contains (Name) then
                  Loaded.Hosts.Insert (Name, Context);
               end if;
            end;
         end if;
      end loop;
      GENERAL_NAMES_free (Names);
      return Result;
   end Add_Hosts;

   procedure Set_Client_Policy
     (Context : System.Address; Policy : Client_Policy; Authorities : String)
   is
      Names : System.Address;
   begin
      if Policy = Ignored then
         return;
      end if;
      ERR_clear_error;
      Check
        (SSL_CTX_load_verify_file (Context, To_C (Authorities)) = 1,
         Authorities & " contains no usable certificate in PEM format");
      Names := SSL_load_client_CA_file (To_C (Authorities));
      Check (Names /= Nothing, Authorities & " contains no usable certificate in PEM format");
      SSL_CTX_set_client_CA_list (Context, Names);
      SSL_CTX_set_verify
        (Context,
         (if Policy = Required then SSL_VERIFY_PEER + SSL_VERIFY_FAIL_IF_NO_PEER_CERT
          else SSL_VERIFY_PEER),
         Nothing);
   end Set_Client_Policy;

   Cipher_List : constant String :=
     "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL:!eNULL";
   --  The cipher suites of TLS 1.2. Those of TLS 1.3 all have forward secrecy and authenticated
   --  encryption.

   --  Clients resume only sessions with the same policy and authorities for client certificates

   procedure Set_Identity
     (Context : System.Address; Policy : Client_Policy; Authorities : Unbounded_String)
   is
      Text   : constant String := Policy'Image & ASCII.NUL & To_String (Authorities);
      Digest : aliased Bytes (1 .. Digest_Length);
   begin
      Check
        (Digests (Text'Address, Text'Length, Digest)
         and then SSL_CTX_set_session_id_context
           (Context, Digest'Address, Digest'Length) = 1,
         "OpenSSL cannot set the ID of the session context");
   end Set_Identity;

   procedure Set (Context : System.Address; Command : int; Number : int; Name : String) is
   begin
      Check
        (SSL_CTX_ctrl (Context, Command, long (Number), Nothing) /= 0,
         "OpenSSL does not support " & Name);
   end Set;

   procedure Set_Up
     (Context : System.Address; Loaded : not null Generation_Reference; Options : Settings)
   is
      Ignored      : long;
      Ignored_Set  : Unsigned_64;
   begin
      Set (Context, SSL_CTRL_SET_MIN_PROTO_VERSION,
           (case Options.Min_Version is
               when TLS_1_2 => TLS1_2_VERSION, when TLS_1_3 => TLS1_3_VERSION), "TLS");
      Set (Context, SSL_CTRL_SET_MAX_PROTO_VERSION, TLS1_3_VERSION, "TLS 1.3");
      Ignored_Set := SSL_CTX_set_options (Context, Context_Options);
      Ignored := SSL_CTX_ctrl (Context, SSL_CTRL_MODE, Modes, Nothing);
      Ignored := SSL_CTX_ctrl (Context, SSL_CTRL_SET_READ_AHEAD, 1, Nothing);
      Ignored := SSL_CTX_ctrl
        (Context, SSL_CTRL_SET_SESS_CACHE_MODE, long (SSL_SESS_CACHE_OFF), Nothing);
      Ignored := SSL_CTX_set_timeout (Context, long (Options.Ticket_Lifetime));
      SSL_CTX_set_security_level (Context, 2);
      Check
        (SSL_CTX_set_cipher_list (Context, To_C (Cipher_List)) = 1,
         "OpenSSL has no cipher suite for TLS 1.2");
      SSL_CTX_set_default_passwd_cb (Context, No_Password'Address);
      SSL_CTX_set_alpn_select_cb (Context, Select_Protocol'Address, Nothing);
      SSL_CTX_set_msg_callback (Context, Note_Message'Address);
      SSL_CTX_set_client_hello_cb (Context, Note_Host'Address, Nothing);
      Check
        (SSL_CTX_set_tlsext_ticket_key_evp_cb (Context, Use_Ticket_Key'Address) = 1
         and then SSL_CTX_callback_ctrl
           (Context, SSL_CTRL_SET_TLSEXT_SERVERNAME_CB, Select_Host'Address) = 1
         and then SSL_CTX_ctrl
           (Context, SSL_CTRL_SET_TLSEXT_SERVERNAME_ARG, 0, Loaded.all'Address) = 1,
         "OpenSSL cannot set the callbacks for tickets and host names");
   end Set_Up;

   function New_Generation
     (Certificates : Certificate_List;
      Policy       : Client_Policy;
      Authorities  : String;
      Options      : Settings) return not null Generation_Reference
   is
      Authority_Text : constant Unbounded_String :=
        (if Policy = Ignored then Null_Unbounded_String else Content_Of (Authorities));
      Result  : Generation_Reference := new Generation (Certificates'Length);
      Context : System.Address;
      Index   : Positive := 1;
   begin
      for Files of Certificates loop
         ERR_clear_error;
         Context := SSL_CTX_new (TLS_server_method);
         Check (Context /= Nothing, "OpenSSL cannot create a context");
         Result.Contexts (Index) := Context_Address (Context);
         Set_Up (Context, Result, Options);
         Set_Identity (Context, Policy, Authority_Text);
         Load_Certificate (Context, Files, Options.Report);
         Set_Client_Policy (Context, Policy, Authorities);
         if Add_Hosts (Result.all, Result.Contexts (Index)) = 0 and then Index > 1 then
            raise Configuration_Error with
              "the certificate in " & To_String (Files.Chain) & " contains no DNS name";
         end if;
         Index := Index + 1;
      end loop;
      ERR_clear_error;
      return Result;
   exception
      when others =>
         ERR_clear_error;
         Free (Result);
         raise;
   end New_Generation;

   procedure Load
     (Self                : in out TLS_Transport;
      Certificates        : Certificate_List;
      Client_Certificates : Client_Policy := Ignored;
      Client_Authorities  : String := "";
      Options             : Settings := (others => <>))
   is
      Loaded : Generation_Reference;
   begin
      --  Without the function that OpenSSL otherwise calls at the end of the program, while tasks
      --  may still be running
      Check
        (OPENSSL_init_ssl (OPENSSL_INIT_NO_ATEXIT, Nothing) = 1, "OpenSSL cannot be initialized");
      Self.Loading.Acquire;
      Loaded := New_Generation (Certificates, Client_Certificates, Client_Authorities, Options);
      Free (Self.Certificates);
      Self.Certificates := new Certificate_List'(Certificates);
      Self.Policy       := Client_Certificates;
      Self.Authorities  := To_Unbounded_String (Client_Authorities);
      Self.Options      := Options;
      Self.Keys.Set_Lifetime (Byte_Count (Options.Ticket_Lifetime) * 1_000);
      Replace (Self, Loaded);
      Self.Loading.Release;
   exception
      when others =>
         Self.Loading.Release;
         raise;
   end Load;

   procedure Reload (Self : in out TLS_Transport) is
   begin
      Self.Loading.Acquire;
      Replace
        (Self,
         New_Generation
           (Self.Certificates.all, Self.Policy, To_String (Self.Authorities), Self.Options));
      Self.Loading.Release;
   exception
      when others =>
         Self.Loading.Release;
         raise;
   end Reload;

   overriding procedure Finalize (Self : in out TLS_Transport) is
   begin
      Replace (Self, null);
      Free (Self.Certificates);
   end Finalize;

   ----------------
   -- Operations --
   ----------------

   --  The method of a BIO, which all sessions share and which is never freed

   Socket_Method : System.Address := Nothing;

   procedure Make_Method is
   begin
      if Socket_Method = Nothing then
         Socket_Method := BIO_meth_new
           (int (Unsigned_32 (BIO_get_new_index) or Unsigned_32 (BIO_TYPE_SOURCE_SINK)),
            To_C ("appserver socket"));
         if Socket_Method = Nothing
           or else BIO_meth_set_read (Socket_Method, Read_Socket'Address) /= 1
           or else BIO_meth_set_write (Socket_Method, Write_Socket'Address) /= 1
           or else BIO_meth_set_ctrl (Socket_Method, Control'Address) /= 1
         then
            raise Storage_Error with "OpenSSL cannot create a BIO method";
         end if;
      end if;
   end Make_Method;

   overriding function New_Session
     (Self : in out TLS_Transport; Socket : Descriptor) return Transports.Session_Reference
   is
      Result  : TLS_Session_Reference;
      BIO     : System.Address;
      Ignored : long;
      Loaded  : Generation_Reference;
   begin
      Self.Store.Get (Loaded);
      if Loaded = null then
         return null;
      end if;
      Result := new TLS_Session (Self'Unchecked_Access);
      Result.Generation := Loaded;
      Result.Socket     := Socket;
      ERR_clear_error;
      Result.SSL := SSL_new (System.Address (Loaded.Contexts (1)));
      BIO := BIO_new (Socket_Method);
      if Result.SSL = Nothing or else BIO = Nothing then
         declare
            Freed : constant int := BIO_free (BIO);
         begin
            pragma Unreferenced (Freed);
            Result.Close;
            return null;
         end;
      end if;
      BIO_set_data (BIO, Result.all'Address);
      BIO_set_init (BIO, 1);
      SSL_set_bio (Result.SSL, BIO, BIO);
      Ignored := SSL_ctrl (Result.SSL, SSL_CTRL_SET_MSG_CALLBACK_ARG, 0, Result.all'Address);
      if SSL_set_ex_data (Result.SSL, 0, Result.all'Address) /= 1 then
         Result.Close;
         return null;
      end if;
      SSL_set_accept_state (Result.SSL);
      return Transports.Session_Reference (Result);
   exception
      when Storage_Error =>
         if Result = null then
            Put_Back (Self, Loaded);
         else
            Result.Close;
         end if;
         return null;
   end New_Session;

   --  Sets Result after a call of OpenSSL that has not succeeded

   procedure Judge (Self : in out TLS_Session; Returned : int; Result : out Transports.Outcome) is
      Error : constant int := SSL_get_error (Self.SSL, Returned);
   begin
      if Error = SSL_ERROR_WANT_READ then
         Self.Is_Dry := True;
         Result := Transports.Wants_Input;
      elsif Error = SSL_ERROR_WANT_WRITE then
         Result := Transports.Wants_Output;
      elsif Error = SSL_ERROR_ZERO_RETURN then
         Result := Transports.Closed;
      else
         Self.Is_Broken := True;
         Result := (if Self.Is_At_End then Transports.Closed else Transports.Failed);
      end if;
   end Judge;

   --  OpenSSL judges errors by the queue of the calling thread, which must be empty

   procedure Begin_Operation (Self : in out TLS_Session) is
   begin
      ERR_clear_error;
      Self.Budget := Max_Input;
      Self.Is_Dry := False;
   end Begin_Operation;

   overriding procedure Handshake (Self : in out TLS_Session; Result : out Transports.Outcome) is
      Returned : int;
   begin
      Begin_Operation (Self);
      Returned := SSL_do_handshake (Self.SSL);
      if Returned = 1 then
         Self.Is_Complete := True;
         Self.Owner.Store.Note_Success (SSL_session_reused (Self.SSL) = 1);
         Result := Transports.Done;
      else
         Judge (Self, Returned, Result);
         if Result = Transports.Failed then
            Self.Is_Plain := ERR_peek_error in HTTP_Request | Proxy_Request;
            Self.Owner.Store.Note_Failure;
         end if;
      end if;
   end Handshake;

   overriding procedure Receive
     (Self   : in out TLS_Session;
      Into   : out String;
      Count  : out Natural;
      Result : out Transports.Outcome)
   is
      Returned : int;
   begin
      Count := 0;
      if Self.Is_Broken then
         Result := Transports.Failed;
         return;
      end if;
      Begin_Operation (Self);
      Returned := SSL_read (Self.SSL, Into'Address, Into'Length);
      if Returned > 0 then
         Count := Natural (Returned);
         Self.Messages := 0;
         Result := Transports.Done;
      else
         Judge (Self, Returned, Result);
      end if;
   end Receive;

   overriding procedure Send
     (Self   : in out TLS_Session;
      Bytes  : String;
      Count  : out Natural;
      Result : out Transports.Outcome)
   is
      Returned : int;
   begin
      Count := 0;
      if Self.Is_Broken then
         Result := Transports.Failed;
         return;
      end if;
      Begin_Operation (Self);
      Returned := SSL_write (Self.SSL, Bytes'Address, Bytes'Length);
      if Returned > 0 then
         Count  := Natural (Returned);
         Result := Transports.Done;
      else
         Judge (Self, Returned, Result);
      end if;
   end Send;

   overriding procedure Shut_Down (Self : in out TLS_Session; Result : out Transports.Outcome) is
      Returned : int;
   begin
      Result := Transports.Done;
      if Self.Is_Complete and then not Self.Is_Broken and then not Self.Is_Shut then
         Begin_Operation (Self);
         Returned := SSL_shutdown (Self.SSL);
         if Returned < 0 then
            Judge (Self, Returned, Result);
         end if;
         Self.Is_Shut := Result /= Transports.Wants_Output;
         if Self.Is_Shut then
            Result := Transports.Done;
         end if;
      end if;
   end Shut_Down;

   overriding procedure Close (Self : not null access TLS_Session) is
      Object : TLS_Session_Reference := Self.all'Unchecked_Access;
      Owner  : TLS_Transport renames Self.Owner.all;
      Loaded : Generation_Reference := Self.Generation;
   begin
      SSL_free (Object.SSL);
      Free (Object);
      Put_Back (Owner, Loaded);
   end Close;

   --------------
   -- Requests --
   --------------

   --  Returns the SSL of the connection of a request, or null

   function SSL_Of (Request : HTTP.Request) return System.Address is
     (if Request.Session /= null and then Request.Session.all in TLS_Session'Class
      then TLS_Session (Request.Session.all).SSL
      else Nothing);

   function Image (Name : System.Address) return String is
      Max_Length : constant := 4_096;

      BIO     : constant System.Address := BIO_new (BIO_s_mem);
      Text    : String (1 .. Max_Length);
      Count   : int := 0;
      Ignored : int;
   begin
      if BIO /= Nothing and then X509_NAME_print_ex (BIO, Name, 0, XN_FLAG_RFC2253) >= 0 then
         Count := BIO_read (BIO, Text'Address, Text'Length);
      end if;
      Ignored := BIO_free (BIO);
      return Text (1 .. Natural (int'Max (Count, 0)));
   end Image;

   function Client_Subject (Request : HTTP.Request) return String is
      SSL         : constant System.Address := SSL_Of (Request);
      Certificate : System.Address;
   begin
      if SSL = Nothing then
         return "";
      end if;
      Certificate := SSL_get0_peer_certificate (SSL);
      return
        (if Certificate = Nothing or else SSL_get_verify_result (SSL) /= 0 then ""
         else Image (X509_get_subject_name (Certificate)));
   end Client_Subject;

   function Version (Request : HTTP.Request) return String is
      SSL : constant System.Address := SSL_Of (Request);
   begin
      return (if SSL = Nothing then "" else C_Strings.Value (SSL_get_version (SSL)));
   end Version;

begin
   Make_Method;
end Appserver.HTTP.TLS;
