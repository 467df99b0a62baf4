--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Calendar;
with Ada.Finalization;
with Ada.Real_Time;
with Ada.Strings.Fixed;
with Ada.Strings.Unbounded;
with Ada.Unchecked_Conversion;
with Ada.Unchecked_Deallocation;
with Appserver.SQL.Detached_Calls;
with Appserver.SQL.Text_Values;
with Appserver.SQL.Time_Limits;
with Interfaces.C.Strings;

package body Appserver.SQL.MariaDB is

   use Ada.Strings.Unbounded;
   use MariaDB_Library;
   use Text_Values;
   use type Ada.Containers.Count_Type;
   use type Interfaces.Integer_64;
   use type Strings.chars_ptr;
   use type System.Address;

   function Library_Version return String is (Strings.Value (get_client_info));

   ------------
   -- Errors --
   ------------

   --  Sets the state for codes to which the server or the library assigns no state, or only a
   --  general state

   function State_Of (Code : Error_Number; State : String) return SQL_State is
     (case Code is
         when Interrupted | Statement_Timeout => "57014",
         when Socket_Failed | Host_Failed | Unknown_Host => "08001",
         when Server_Gone | Server_Lost | TLS_Failed | Connection_Killed => "08006",
         when others => State);

   --  After an error of class 40, the server has rolled back the transaction. The library updates
   --  its transaction state only after a successful response, which this statement causes.

   Nothing_To_Do : constant String := "DO 0";

   procedure Raise_Failure
     (DB : Connection_Handle; Code : Error_Number; State, Message : String)
     with No_Return;
   procedure Raise_Failure
     (DB : Connection_Handle; Code : Error_Number; State, Message : String)
   is
      Ignored : int;
   begin
      if State (State'First .. State'First + 1) = "40" then
         Ignored := real_query (DB, Nothing_To_Do'Address, Nothing_To_Do'Length);
      end if;
      Raise_Error
        (State_Of (Code, State), Integer (Code), Message, Origin => From_MariaDB);
   end Raise_Failure;

   procedure Raise_Latest (DB : Connection_Handle) with No_Return, No_Inline;
   procedure Raise_Latest (DB : Connection_Handle) is
   begin
      Raise_Failure
        (DB, errno (DB), Strings.Value (sqlstate (DB)), Strings.Value (error (DB)));
   end Raise_Latest;

   procedure Raise_Latest (DB : Connection_Handle; Failed : Statement_Handle)
     with No_Return, No_Inline;
   procedure Raise_Latest (DB : Connection_Handle; Failed : Statement_Handle) is
   begin
      if stmt_errno (Failed) = OK then
         Raise_Latest (DB);  --  an error after rows
      end if;
      Raise_Failure
        (DB, stmt_errno (Failed),
         Strings.Value (stmt_sqlstate (Failed)), Strings.Value (stmt_error (Failed)));
   end Raise_Latest;

   procedure Send (DB : Connection_Handle; Text : String) is
   begin
      if real_query (DB, Text'Address, Text'Length) /= 0 then
         Raise_Latest (DB);
      end if;
   end Send;

   function Status_Of (DB : Connection_Handle) return unsigned is
      Result  : unsigned;
      Ignored : constant my_bool := get_info (DB, Info_Server_Status, Result);
   begin
      return Result;
   end Status_Of;

   --  The server converts MariaDB's type timestamp from and to the session's time zone. It does not
   --  convert datetime, and NOW returns a time in the session's time zone. So all times are in UTC
   --  if the session's time zone is UTC. Texts are in UTF-8. The server reports when a program
   --  changes these settings.

   UTC           : constant String := "+00:00";
   Character_Set : constant String := "utf8mb4";

   procedure Set_Session (DB : Connection_Handle) is
   begin
      Send
        (DB,
         "SET time_zone = '" & UTC & "', character_set_client = " & Character_Set
         & ", character_set_connection = " & Character_Set
         & ", character_set_results = " & Character_Set & ", session_track_system_variables ="
         & " concat_ws(',', nullif(@@session_track_system_variables, ''), 'time_zone',"
         & " 'character_set_client', 'character_set_connection', 'character_set_results')");
   end Set_Session;

   procedure Restore_Session (DB : Connection_Handle) with No_Inline;
   procedure Restore_Session (DB : Connection_Handle) is

      Start  : System.Address;
      Length : size_t;
      Found  : Boolean := session_track_get_first (DB, Track_Variables, Start, Length) = 0;

      --  Names and values alternate

      function Next return String is
         Text : String (1 .. Natural (Length)) with Import, Address => Start;
      begin
         return Result : constant String := Text do
            Found := session_track_get_next (DB, Track_Variables, Start, Length) = 0;
         end return;
      end Next;

      Moves_Zone, Moves_Characters : Boolean := False;
   begin
      while Found loop
         declare
            Name  : constant String := Next;
            Value : constant String := (if Found then Next else "");
         begin
            if Name = "time_zone" then
               Moves_Zone := Value /= UTC;
            elsif Name in "character_set_client" | "character_set_connection"
                        | "character_set_results"
            then
               Moves_Characters := Moves_Characters or else Value /= Character_Set;
            end if;
         end;
      end loop;
      if Moves_Zone then
         Send (DB, "SET time_zone = '" & UTC & "'");
      end if;
      if Moves_Characters then
         Send (DB, "SET NAMES " & Character_Set);
      end if;
   end Restore_Session;

   --  Called before a command is sent, since no command can be sent while the server still sends
   --  rows

   procedure Make_Ready (DB : Connection'Class) with Inline;
   procedure Make_Ready (DB : Connection'Class) is
   begin
      if DB.Streams then
         Raise_Error
           ("HY010", 0, "another statement is streaming rows: read all of them, or call Reset");
      elsif (Status_Of (DB.Handle) and Session_Changed) /= 0 then
         Restore_Session (DB.Handle);
      end if;
   end Make_Ready;

   procedure Send (DB : in out Connection'Class; Text : String) is
      Limit : Time_Limits.Operation (DB'Unchecked_Access) with Unreferenced;
   begin
      Make_Ready (DB);
      Send (DB.Handle, Text);
   end Send;

   procedure Make_Ready_In_Time (DB : in out Connection'Class) is
      Limit : Time_Limits.Operation (DB'Unchecked_Access) with Unreferenced;
   begin
      Make_Ready (DB);
   end Make_Ready_In_Time;

   function Handle_Of (Self : Statement) return Connection_Handle is
     (Connection (Self.Owner.all).Handle) with Inline;

   -------------
   -- Opening --
   -------------

   overriding function Is_Open (Self : Connection) return Boolean is
     (Self.Handle /= No_Connection);

   --  The library closes the socket of a lost connection

   overriding function Is_Connected (Self : Connection) return Boolean is
     (get_socket (Self.Handle) /= No_Socket and then not Self.Gate.Is_Lost);

   overriding function Socket (Self : Connection) return Integer is
     (if Self.Handle = No_Connection then -1 else Integer (get_socket (Self.Handle)));

   --  Returns null for an empty text

   function New_Word (Text : Unbounded_String) return Strings.chars_ptr is
     (if Length (Text) = 0 then Strings.Null_Ptr else Strings.New_String (To_String (Text)));

   procedure Set_Number (DB : Connection_Handle; Option : int; Number : Natural) is
      Value   : aliased constant unsigned := unsigned (Number);
      Ignored : int;
   begin
      if Number > 0 then
         Ignored := options (DB, Option, Value'Address);
      end if;
   end Set_Number;

   procedure Set_Flag (DB : Connection_Handle; Option : int; Flag : Boolean) is
      Value   : aliased constant my_bool := Boolean'Pos (Flag);
      Ignored : int;
   begin
      Ignored := options (DB, Option, Value'Address);
   end Set_Flag;

   procedure Set_Text (DB : Connection_Handle; Option : int; Text : String) is
      Value   : constant char_array := To_C (Text);
      Ignored : int;
   begin
      Ignored := options (DB, Option, Value'Address);
   end Set_Text;

   function Seconds (Time : Duration) return Natural is
     (Natural (Long_Float'Ceiling (Long_Float (Time))));

   --  Disables LOAD DATA LOCAL, with which a server could read local files

   procedure Set_Options (DB : Connection_Handle; Target : MariaDB_Targets.Target) is
      Local   : aliased constant unsigned := 0;
      Ignored : int;
   begin
      Set_Text (DB, Option_Charset_Name, Character_Set);
      Ignored := options (DB, Option_Local_Infile, Local'Address);
      Set_Number (DB, Option_Connect_Timeout, Seconds (Target.Connect_Timeout));
      Set_Number (DB, Option_Read_Timeout, Seconds (Target.Response_Timeout));
      Set_Number (DB, Option_Write_Timeout, Seconds (Target.Response_Timeout));
      if Target.Is_Encrypted then
         Set_Flag (DB, Option_TLS_Enforce, True);
         Set_Flag (DB, Option_TLS_Verify, Target.Is_Authenticated);
      end if;
      if Target.Is_Authenticated and then Length (Target.Authority) > 0 then
         Set_Text (DB, Option_TLS_Authority, To_String (Target.Authority));
      end if;
   end Set_Options;

   --  If a user requires TLS, the server reports the same error without TLS as for a wrong
   --  password, so this returns a hint

   function Hint (DB : Connection_Handle; Target : MariaDB_Targets.Target) return String is
      Capabilities : unsigned_long := 0;
      Ignored      : constant my_bool := get_info (DB, Info_Server_Capabilities, Capabilities);
   begin
      return
        (if errno (DB) = Access_Denied
           and then not Target.Is_Encrypted and then (Capabilities and Has_TLS) > 0
         then " (without TLS, which the server may require)"
         else "");
   end Hint;

   --  If the connection is lost before it is established, the server is treated as unreachable

   procedure Raise_Unconnected (DB : Connection_Handle; Target : MariaDB_Targets.Target)
     with No_Return;
   procedure Raise_Unconnected (DB : Connection_Handle; Target : MariaDB_Targets.Target) is
      State : constant String := State_Of (errno (DB), Strings.Value (sqlstate (DB)));
   begin
      Raise_Error
        ((if State = "08006" then "08001" else State),
         Integer (errno (DB)),
         Strings.Value (error (DB)) & Hint (DB, Target),
         Origin => From_MariaDB);
   end Raise_Unconnected;

   --  The library resolves names without a timeout, and applies its timeout to each address

   type Connect_Call is limited record
      DB                                     : Connection_Handle := No_Connection;
      Host, User, Password, Database, Socket : Strings.chars_ptr;
      Port                                   : unsigned := 0;
      Is_Connected                           : Boolean := False;
   end record;

   type Connect_Call_Access is access all Connect_Call;
   procedure Free is new Ada.Unchecked_Deallocation (Connect_Call, Connect_Call_Access);
   function To_Call is new Ada.Unchecked_Conversion (System.Address, Connect_Call_Access);

   procedure Make_Connection (Argument : System.Address) with Convention => C;
   procedure Make_Connection (Argument : System.Address) is
      Call : constant Connect_Call_Access := To_Call (Argument);
   begin
      Call.Is_Connected := real_connect
        (Call.DB, Call.Host, Call.User, Call.Password, Call.Database, Call.Port, Call.Socket,
         Client_Found_Rows) /= No_Connection;
   end Make_Connection;

   procedure Drop_Connection (Argument : System.Address) with Convention => C;
   procedure Drop_Connection (Argument : System.Address) is
      Call : Connect_Call_Access := To_Call (Argument);
   begin
      if Call.DB /= No_Connection then
         close (Call.DB);
      end if;
      Strings.Free (Call.Host);
      Strings.Free (Call.User);
      Strings.Free (Call.Password);
      Strings.Free (Call.Database);
      Strings.Free (Call.Socket);
      Free (Call);
   end Drop_Connection;

   --  Connects to a server. Wait is the timeout in seconds; 0.0 means no limit.

   procedure Connect
     (Self : in out Connection; Target : MariaDB_Targets.Target; Wait : Duration)
   is
      Connecting : Detached_Calls.Detached_Call (Make_Connection'Access, Drop_Connection'Access);
      Call       : constant Connect_Call_Access := new Connect_Call;
      Is_Done    : Boolean;
   begin
      Connecting.Own (Call.all'Address);
      Call.DB := init (No_Connection);
      if Call.DB = No_Connection then
         raise Storage_Error with "cannot allocate memory for a connection to MariaDB";
      end if;
      Set_Options (Call.DB, Target);
      Call.Host     := New_Word (Target.Host);
      Call.User     := New_Word (Target.User);
      Call.Password := New_Word (Target.Password);
      Call.Database := New_Word (Target.Database);
      Call.Socket   := New_Word (Target.Socket);
      Call.Port     := unsigned (Target.Port);
      Connecting.Run ((if Wait > 0.0 then Wait else Duration'Last), Is_Done);
      if not Is_Done then
         Raise_Error
           ("08001", 0, "no connection within " & Image (Integer_64 (Wait * 1_000), 3) & " s");
      end if;
      if not Call.Is_Connected then
         Raise_Unconnected (Call.DB, Target);
      elsif Target.Is_Encrypted and then get_ssl_cipher (Call.DB) = Strings.Null_Ptr then
         Raise_Error ("08001", 0, "the server does not support TLS");
      end if;
      Self.Handle := Call.DB;
      Call.DB     := No_Connection;
   end Connect;

   --  Returns the shorter of two timeouts, where 0.0 means no limit

   function Shorter (Left, Right : Duration) return Duration is
     (if Left = 0.0 then Right elsif Right = 0.0 then Left else Duration'Min (Left, Right));

   procedure Open
     (Self             : in out Connection;
      Target           : MariaDB_Targets.Target;
      Connect_Timeout  : Timeout_Duration;
      Response_Timeout : Timeout_Duration;
      TLS              : TLS_Mode;
      Authority        : String)
   is
      use type Ada.Real_Time.Time;

      Start    : constant Ada.Real_Time.Time := Ada.Real_Time.Clock;
      Wait     : constant Duration := Shorter (Connect_Timeout, Time_Limits.Limit_Of (Self));
      Complete : MariaDB_Targets.Target := Target;
      Limit    : Time_Limits.Time_Limit;
   begin
      Complete.Connect_Timeout  := Wait;
      Complete.Response_Timeout := Response_Timeout;
      Complete.Is_Encrypted     := TLS /= Unencrypted;
      Complete.Is_Authenticated := TLS = Authenticated;
      Complete.Authority        := To_Unbounded_String (Authority);
      Connect (Self, Complete, Wait);
      Self.Target   := Complete;
      Self.Id       := thread_id (Self.Handle);
      Self.Affected := 0;
      if Wait > 0.0 then
         Limit.Start (Self, Start + Ada.Real_Time.To_Time_Span (Wait));
      end if;
      Set_Session (Self.Handle);
      Time_Limits.Begin_Session (Self);
   exception
      when Error : SQL_Error =>
         Self.Close;
         if Error_Of (Error).Kind = Connection_Lost then
            Raise_Error ("08001", Code_Of (Error), Message_Of (Error), From_MariaDB);
         end if;
         raise;
   end Open;

   procedure Open
     (Self             : in out Connection;
      Host             : String;
      User             : UTF_8_String;
      Password         : UTF_8_String;
      Database         : UTF_8_String     := "";
      Port             : Port_Number      := Default_Port;
      Connect_Timeout  : Timeout_Duration := 0.0;
      Response_Timeout : Timeout_Duration := 0.0;
      TLS              : TLS_Mode         := Unencrypted;
      Authority        : String           := "") is
   begin
      Open
        (Self,
         MariaDB_Targets.Target'
           (Host     => To_Unbounded_String (Host),
            User     => To_Unbounded_String (User),
            Password => To_Unbounded_String (Password),
            Database => To_Unbounded_String (Database),
            Port     => Port,
            others   => <>),
         Connect_Timeout, Response_Timeout, TLS, Authority);
   end Open;

   procedure Open
     (Self             : in out Connection;
      Target           : UTF_8_String;
      Connect_Timeout  : Timeout_Duration := 0.0;
      Response_Timeout : Timeout_Duration := 0.0;
      TLS              : TLS_Mode         := Unencrypted;
      Authority        : String           := "") is
   begin
      Open
        (Self, MariaDB_Targets.Parsed (Target), Connect_Timeout, Response_Timeout, TLS, Authority);
   end Open;

   --  Zero would mean no limit

   procedure Set_Statement_Limit (Self : in out Connection; Limit : Timeout_Duration) is
      Least        : constant Integer_64 := (if Limit > 0.0 then 1 else 0);
      Microseconds : constant Integer_64 :=
        Integer_64'Max (Least, Integer_64 (Long_Float (Limit) * 1.0e6));
   begin
      Send (Self, "SET max_statement_time = " & Image (Microseconds, Scale => 6));
   end Set_Statement_Limit;

   --  A reset does not undo a USE. If the connection was opened without a default database, this
   --  state cannot be restored.

   procedure Restore_Database (Self : in out Connection) is
      Name  : constant String := To_String (Self.Target.Database);
      Query : Statement;
   begin
      if Name /= "" then
         if select_db (Self.Handle, To_C (Name)) /= 0 then
            Raise_Latest (Self.Handle);
         end if;
         return;
      end if;
      Query.Prepare_Client_Side (Self, "SELECT database()");
      if Query.Step and then not Query.Is_Null (1) then
         Raise_Error
           ("0A000", 0,
            "a USE statement set a default database, but the connection was opened without one:"
            & " close the connection and open it again");
      end if;
   end Restore_Database;

   --  The server drops the session's prepared statements

   overriding procedure Reset_Session (Self : in out Connection) is
      Next  : Statement_Reference := Self.First;
      Limit : Time_Limits.Operation (Self'Unchecked_Access) with Unreferenced;
   begin
      Make_Ready (Self);
      while Next /= null loop
         Next.Reset;
         Next.Is_Stale := True;
         Next := Next.Next;
      end loop;
      if reset_connection (Self.Handle) /= 0 then
         Raise_Latest (Self.Handle);
      end if;
      Set_Session (Self.Handle);
      Restore_Database (Self);
   end Reset_Session;

   overriding procedure Close (Self : in out Connection) is
   begin
      if Self.Is_Open then
         Time_Limits.End_Session (Self);
         declare
            Limit : Time_Limits.Cleanup (Self'Unchecked_Access) with Unreferenced;
         begin
            Self.Close_Statements;
            close (Self.Handle);
            Self.Handle := No_Connection;
         end;
      end if;
   end Close;

   -----------------
   -- Connections --
   -----------------

   overriding procedure Execute (Self : in out Connection; Text : UTF_8_String) is
      Command : Statement;
   begin
      Command.Prepare_Client_Side (Self, Text);
      Command.Execute;
   end Execute;

   overriding function Rows_Affected (Self : Connection) return Integer_64 is (Self.Affected);

   overriding function Last_Insert_Id (Self : in out Connection) return Integer_64 is
     (insert_id (Self.Handle));

   overriding function In_Autocommit (Self : Connection) return Boolean is
     ((Status_Of (Self.Handle) and (Autocommit or In_Transaction)) = Autocommit);

   subtype Server_Error is Integer
     with Static_Predicate => Server_Error in 1_000 .. 1_999 | 3_000 .. 4_999;
   --  Other codes are errors of the library

   --  Once the server has responded, it stops the running statement. The request has no effect on
   --  the next statement.

   overriding procedure Cancel (Self : Connection) is
      use type Ada.Real_Time.Time;

      Mark    : Time_Limits.Cancellation (Self'Unchecked_Access);
      Timeout : constant Duration := Time_Limits.Cancel_Timeout (Self);
      Stop    : constant Ada.Real_Time.Time :=
        Ada.Real_Time.Clock + Ada.Real_Time.To_Time_Span (Timeout);
      Killer  : Connection;
      Limit   : Time_Limits.Time_Limit;
   begin
      if Self.Is_Open and then Time_Limits.Has_Target (Mark) then
         Killer.Target := Self.Target;
         Killer.Id     := Self.Id;
         Time_Limits.End_Reading (Mark);
         Connect (Killer, Killer.Target, Timeout);
         Limit.Start (Killer, Stop);
         Time_Limits.Begin_Request (Mark);
         Send (Killer.Handle, "KILL QUERY" & Killer.Id'Image);
         Time_Limits.End_Request (Mark);
      end if;
   exception
      when Error : SQL_Error =>
         if Code_Of (Error) in Server_Error then
            Time_Limits.End_Request (Mark);  --  the server rejected the request
         end if;
         if Error_Of (Error).Kind = Connection_Lost then
            Raise_Error ("08001", Code_Of (Error), Message_Of (Error), From_MariaDB);
         end if;
         raise;
   end Cancel;

   overriding procedure Begin_Transaction (Self : in out Connection) is
   begin
      Send (Self, "BEGIN");
   end Begin_Transaction;

   --  The level applies only to the next transaction

   overriding procedure Begin_Isolated
     (Self : in out Connection; Level : Isolation_Level; Mode : Access_Mode) is
   begin
      case Level is
         when Default_Isolation => null;
         when Read_Committed  =>
            Send (Self, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
         when Repeatable_Read =>
            Send (Self, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
         when Serializable    =>
            Send (Self, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
      end case;
      case Mode is
         when Read_Write => Send (Self, "START TRANSACTION READ WRITE");
         when Read_Only  => Send (Self, "START TRANSACTION READ ONLY");
      end case;
   end Begin_Isolated;

   --  COMMIT without a transaction is not an error in MariaDB, and would hide that the server has
   --  ended the transaction

   overriding procedure Commit (Self : in out Connection) is
   begin
      if Self.In_Autocommit then
         Raise_Error ("25P01", 0, "the transaction has ended: the server rolled it back");
      end if;
      Send (Self, "COMMIT");
   end Commit;

   overriding procedure Roll_Back (Self : in out Connection) is
      Limit : Time_Limits.Cleanup (Self'Unchecked_Access) with Unreferenced;
   begin
      Send (Self, "ROLLBACK");
   end Roll_Back;

   ---------------
   -- Preparing --
   ---------------

   procedure Free is new Ada.Unchecked_Deallocation (String, Buffer_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (Exchange, Exchange_Reference);
   procedure Free is new Ada.Unchecked_Deallocation
     (MariaDB_Texts.Position_List, Positions_Reference);

   procedure Release (Values : in out Exchange_Reference) is
   begin
      if Values /= null then
         for Slot of Values.Slots loop
            Free (Slot.Bytes);
         end loop;
         Free (Values);
      end if;
   end Release;

   --  Bindings point to components of slots, so slots must not be moved

   function New_Exchange (Count : Natural) return Exchange_Reference is
   begin
      return Result : constant Exchange_Reference := new Exchange (Count) do
         for I in 1 .. Count loop
            Result.Bindings (I).Length  := Result.Slots (I).Length'Address;
            Result.Bindings (I).Is_Null := Result.Slots (I).Is_Null'Address;
         end loop;
      end return;
   end New_Exchange;

   function Backslash_Escapes (DB : Connection_Handle) return Boolean is
     ((Status_Of (DB) and No_Backslash_Escapes) = 0);

   overriding function Rules_Of_Texts (Self : Connection) return Text_Rules is
     (Has_Backslash_Escapes   => Backslash_Escapes (Self.Handle),
      Has_Double_Quoted_Texts => (Status_Of (Self.Handle) and ANSI_Quotes) = 0,
      Has_Hash_Comments       => True);

   function Prepared (DB : Connection_Handle; Text : UTF_8_String) return Statement_Handle is
      Ignored : my_bool;
   begin
      return Handle : constant Statement_Handle := stmt_init (DB) do
         if stmt_prepare (Handle, Text'Address, Text'Length) /= 0 then
            begin
               Raise_Latest (DB, Handle);
            exception
               when others =>
                  Ignored := stmt_close (Handle);
                  raise;
            end;
         end if;
      end return;
   end Prepared;

   procedure Prepare
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String)
   is
      Limit  : Time_Limits.Operation (On'Unchecked_Access) with Unreferenced;
      Handle : Statement_Handle;
   begin
      Self.Close;
      Make_Ready (On);
      Handle := Prepared (On.Handle, Text);
      Self.Handle     := Handle;
      Self.Text       := new String'(Text);
      Self.Escapes    := Backslash_Escapes (On.Handle);
      Self.Changes    := MariaDB_Texts.Is_Change (Text);
      Self.Parameters := Natural (stmt_param_count (Handle));
      Self.Inputs     := New_Exchange (Self.Parameters);
      Self.Bound      := False;
      Self.Attach (On);
   end Prepare;

   Null_Literal : constant String := "NULL";

   procedure Prepare_Client_Side
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String)
   is
      Escapes : constant Boolean := Backslash_Escapes (On.Handle);
      Places  : constant MariaDB_Texts.Position_List :=
        MariaDB_Texts.Parameters_In (Text, Escapes);
   begin
      Self.Close;
      Self.Escapes    := Escapes;
      Self.Changes    := MariaDB_Texts.Is_Change (Text);
      Self.Text       := new String'(Text);
      Self.Places     := new MariaDB_Texts.Position_List'(Places);
      Self.Parameters := Places'Length;
      Self.Inputs     := New_Exchange (Self.Parameters);
      Self.Attach (On);
   end Prepare_Client_Side;

   overriding function Prepare
     (Self : in out Connection; Text : UTF_8_String) return SQL.Statement'Class is
   begin
      return Result : Statement do
         Result.Prepare (Self, Text);
      end return;
   end Prepare;

   overriding function Prepare_Client_Side
     (Self : in out Connection; Text : UTF_8_String) return SQL.Statement'Class is
   begin
      return Result : Statement do
         Result.Prepare_Client_Side (Self, Text);
      end return;
   end Prepare_Client_Side;

   --  Skips the rows that the server still sends, in text or binary format. They may be followed by
   --  an error.

   procedure Skip_Rows (DB : Connection_Handle) is
   begin
      free_result (use_result (DB));
      if errno (DB) /= OK then
         Raise_Latest (DB);
      end if;
   end Skip_Rows;

   --  Skips the results after the first, which stored procedures return. If a statement of the
   --  procedure fails after its first result, the call fails.

   procedure Discard_Results (DB : Connection_Handle) is
      Outcome : int;
   begin
      loop
         Outcome := next_result (DB);
         exit when Outcome < 0;
         if Outcome > 0 then
            Raise_Latest (DB);
         end if;
         Skip_Rows (DB);
      end loop;
   end Discard_Results;

   --  Counts a row of a stream

   procedure Count_Row (Self : Statement) with Inline;
   procedure Count_Row (Self : Statement) is
      Owner : Connection renames Connection (Self.Owner.all);
   begin
      if Self.Changes then
         Owner.Affected := Owner.Affected + 1;
      end if;
   end Count_Row;

   --  Reads the remaining rows of a stream

   procedure Read_To_End (Self : Statement) is
      Limit   : Time_Limits.Operation (Self.Owner) with Unreferenced;
      DB      : constant Connection_Handle := Handle_Of (Self);
      Outcome : int;
   begin
      if Self.Handle = No_Statement then
         while fetch_row (Self.Result) /= System.Null_Address loop
            Count_Row (Self);
         end loop;
         if errno (DB) /= OK then
            Raise_Latest (DB);
         end if;
      else
         loop
            Outcome := stmt_fetch (Self.Handle);
            exit when Outcome = No_Data;
            if Outcome not in 0 | Data_Truncated then
               Raise_Latest (DB, Self.Handle);
            end if;
            Count_Row (Self);
         end loop;
      end if;
   end Read_To_End;

   procedure End_Stream (Owner : in out Connection) is
      Ignored : my_bool;
   begin
      Owner.Streams := False;
      Owner.Gate.Has_Stream := False;
      while not Owner.Left.Is_Empty loop
         Ignored := stmt_close (Owner.Left.Last_Element);
         Owner.Left.Delete_Last;
      end loop;
   end End_Stream;

   --  Ignores errors after the rows, since the statement is being closed, or has already failed

   procedure Abandon_Rows (Self : in out Statement) with No_Inline;
   procedure Abandon_Rows (Self : in out Statement) is
      Limit   : Time_Limits.Cleanup (Self.Owner) with Unreferenced;
      Ignored : my_bool;
   begin
      free_result (Self.Result);
      Self.Result := No_Result;
      if Self.Handle /= No_Statement then
         Ignored := stmt_free_result (Self.Handle);
      end if;
      if Self.Streams then
         begin
            Discard_Results (Handle_Of (Self));
         exception
            when SQL_Error => null;
         end;
         End_Stream (Connection (Self.Owner.all));
      end if;
   end Abandon_Rows;

   procedure Abandon_Result (Self : in out Statement) with Inline;
   procedure Abandon_Result (Self : in out Statement) is
   begin
      Self.Columns := 0;
      if Self.Result /= No_Result then
         Abandon_Rows (Self);
      end if;
   end Abandon_Result;

   --  Releases the result. For a stream, reads the remaining rows and results first; other results
   --  have been received completely.

   procedure Drop_Result (Self : in out Statement) with Inline;
   procedure Drop_Result (Self : in out Statement) is
   begin
      if Self.Result /= No_Result and then Self.Streams then
         Read_To_End (Self);
         Discard_Results (Handle_Of (Self));
      end if;
      Abandon_Result (Self);
   exception
      when others =>
         Abandon_Result (Self);
         raise;
   end Drop_Result;

   procedure Release_Handle (Owner : in out Connection; Handle : Statement_Handle) is
      Ignored : my_bool;
   begin
      if Owner.Streams then
         Owner.Left.Append (Handle);
      else
         Ignored := stmt_close (Handle);
      end if;
   end Release_Handle;

   overriding procedure Close (Self : in out Statement) is
   begin
      if Self.Is_Open then
         Abandon_Result (Self);
         if Self.Handle /= No_Statement then
            Release_Handle (Connection (Self.Owner.all), Self.Handle);
            Self.Handle := No_Statement;
         end if;
         Self.Detach;
         Release (Self.Inputs);
         Release (Self.Outputs);
         Free (Self.Text);
         Free (Self.Places);
      end if;
   end Close;

   -------------
   -- Binding --
   -------------

   --  Sets the address from which the library reads the value, if it has changed

   procedure Point
     (Self      : in out Statement;
      Parameter : Parameter_Number;
      Kind      : Type_Code;
      Buffer    : System.Address) with Inline;
   procedure Point
     (Self      : in out Statement;
      Parameter : Parameter_Number;
      Kind      : Type_Code;
      Buffer    : System.Address)
   is
      Binding : MariaDB_Library.Binding renames Self.Inputs.Bindings (Parameter);
   begin
      Self.Inputs.Slots (Parameter).Is_Null := 0;
      if Binding.Kind /= Kind or else Binding.Buffer /= Buffer then
         Binding.Kind   := Kind;
         Binding.Buffer := Buffer;
         Self.Bound     := False;
      end if;
   end Point;

   Min_Room : constant := 64;

   procedure Make_Room (Slot : in out MariaDB.Slot; Length : Natural) is
   begin
      if Slot.Bytes = null or else Slot.Bytes'Length < Length then
         Free (Slot.Bytes);
         Slot.Bytes := new String (1 .. Integer'Max (Min_Room, Length));
      end if;
   end Make_Room;

   procedure Bind_Bytes
     (Self : in out Statement; Parameter : Parameter_Number; Value : String; Kind : Type_Code)
   is
      Slot : MariaDB.Slot renames Self.Inputs.Slots (Parameter);
   begin
      Make_Room (Slot, Value'Length);
      Slot.Bytes (1 .. Value'Length) := Value;
      Slot.Length := Value'Length;
      Point (Self, Parameter, Kind, Slot.Bytes (1)'Address);
   end Bind_Bytes;

   --  Stores the literal to insert into the text

   procedure Bind_Literal
     (Self : in out Statement; Parameter : Parameter_Number; Literal : String) is
   begin
      Bind_Bytes (Self, Parameter, Literal, Type_String);
   end Bind_Literal;

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Integer_64) is
   begin
      if Self.Handle = No_Statement then
         Bind_Literal (Self, Parameter, Image (Value));
      else
         Self.Inputs.Slots (Parameter).Int := Value;
         Point (Self, Parameter, Type_Long_Long, Self.Inputs.Slots (Parameter).Int'Address);
      end if;
   end Bind;

   --  Adds an exponent, since a literal without an exponent is a decimal

   function With_Exponent (Number : String) return String is
     (if (for some C of Number => C = 'e') then Number else Number & "e0");

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Long_Float) is
   begin
      if Self.Handle = No_Statement then
         Bind_Literal (Self, Parameter, With_Exponent (Image (Value)));
      else
         Self.Inputs.Slots (Parameter).Float := Value;
         Point (Self, Parameter, Type_Double, Self.Inputs.Slots (Parameter).Float'Address);
      end if;
   end Bind;

   function Hexadecimal (Bytes : String) return String is
      Hex_Digits : constant String := "0123456789ABCDEF";
      Result     : String (1 .. 2 * Bytes'Length);
   begin
      for I in 1 .. Bytes'Length loop
         declare
            Code : constant Natural := Character'Pos (Bytes (Bytes'First + I - 1));
         begin
            Result (2 * I - 1) := Hex_Digits (1 + Code / 16);
            Result (2 * I)     := Hex_Digits (1 + Code mod 16);
         end;
      end loop;
      return Result;
   end Hexadecimal;

   function Literal_Of_Bytes (Bytes : String) return String is ("X'" & Hexadecimal (Bytes) & "'");

   function With_Doubled_Quotes (Text : String) return String is
      Result : String (1 .. Text'Length + Ada.Strings.Fixed.Count (Text, "'"));
      Last   : Natural := 0;
   begin
      for C of Text loop
         Last := Last + 1;
         Result (Last) := C;
         if C = ''' then
            Last := Last + 1;
            Result (Last) := C;
         end if;
      end loop;
      return Result;
   end With_Doubled_Quotes;

   --  Returns a literal that has the same meaning in every SQL mode, since the mode may change
   --  before the literal is sent. A doubled quote is a quote in all modes. Text with a backslash,
   --  whose meaning depends on NO_BACKSLASH_ESCAPES, is written in hexadecimal.

   function Literal_Of_Text (Text : UTF_8_String) return String is
     (if (for some C of Text => C = '\')
      then "_utf8mb4 " & Literal_Of_Bytes (Text)
      else "'" & With_Doubled_Quotes (Text) & "'");

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : UTF_8_String) is
   begin
      if Self.Handle = No_Statement then
         Bind_Literal (Self, Parameter, Literal_Of_Text (Value));
      else
         Bind_Bytes (Self, Parameter, Value, Type_String);
      end if;
   end Bind;

   function Literal_Of (Value : Moment) return String is ("TIMESTAMP'" & Image (Value) & "'");

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Ada.Calendar.Time)
   is
      Moment : constant Text_Values.Moment := To_Moment (Value);
   begin
      if Self.Handle = No_Statement then
         Bind_Literal (Self, Parameter, Literal_Of (Moment));
      else
         Self.Inputs.Slots (Parameter).Moment :=
           (Year        => unsigned (Moment.Year),
            Month       => unsigned (Moment.Month),
            Day         => unsigned (Moment.Day),
            Hour        => unsigned (Moment.Hour),
            Minute      => unsigned (Moment.Minute),
            Second      => unsigned (Moment.Second),
            Microsecond => unsigned_long (Moment.Nanosecond / 1_000),
            others      => <>);
         Point (Self, Parameter, Type_Date_Time, Self.Inputs.Slots (Parameter).Moment'Address);
      end if;
   end Bind;

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Boolean) is
   begin
      Self.Bind (Parameter, Integer_64'(Boolean'Pos (Value)));
   end Bind;

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Blob)
   is
      Bytes : String (1 .. Value'Length) with Import, Address => Value'Address;
   begin
      if Self.Handle = No_Statement then
         Bind_Literal (Self, Parameter, Literal_Of_Bytes (Bytes));
      else
         Bind_Bytes (Self, Parameter, Bytes, Type_Blob);
      end if;
   end Bind;

   overriding procedure Bind_Scaled
     (Self      : in out Statement;
      Parameter : Parameter_Number;
      Value     : Integer_64;
      Scale     : Decimal_Scale) is
   begin
      Bind_Bytes (Self, Parameter, Image (Value, Scale), Type_Decimal);
   end Bind_Scaled;

   overriding procedure Bind_Null (Self : in out Statement; Parameter : Parameter_Number) is
   begin
      Self.Inputs.Slots (Parameter).Is_Null := 1;
   end Bind_Null;

   -------------------------------------
   -- Running: client-side statements --
   -------------------------------------

   --  The ends of strings in the text depend on the SQL mode, which may have changed since the text
   --  was parsed

   procedure Check_Mode (Self : in out Statement) is
      Escapes : constant Boolean := Backslash_Escapes (Handle_Of (Self));
   begin
      if Escapes = Self.Escapes then
         return;
      end if;
      declare
         Places : constant MariaDB_Texts.Position_List :=
           MariaDB_Texts.Parameters_In (Self.Text.all, Escapes);
      begin
         if Places'Length /= Self.Parameters then
            Raise_Error
              ("0A000", 0,
               "the number of parameters is" & Places'Length'Image & " in this SQL mode, but was"
               & Self.Parameters'Image & " when the text was prepared");
         end if;
         Self.Places.all := Places;
         Self.Escapes    := Escapes;
      end;
   end Check_Mode;

   --  Returns the text with each ? replaced by a literal

   function Complete (Self : Statement) return String is

      function Literal (I : Positive) return String is
        (if Self.Inputs.Slots (I).Is_Null /= 0 then Null_Literal
         else Self.Inputs.Slots (I).Bytes (1 .. Natural (Self.Inputs.Slots (I).Length)));

      Length : Natural  := Self.Text'Length;
      Start  : Positive := Self.Text'First;
      Filled : Natural  := 0;

      procedure Append (Result : in out String; Part : String) is
      begin
         Result (Filled + 1 .. Filled + Part'Length) := Part;
         Filled := Filled + Part'Length;
      end Append;

   begin
      for I in Self.Places'Range loop
         Length := Length - 1 + Literal (I)'Length;
      end loop;
      return Result : String (1 .. Length) do
         for I in Self.Places'Range loop
            Append (Result, Self.Text (Start .. Self.Places (I) - 1));
            Append (Result, Literal (I));
            Start := Self.Places (I) + 1;
         end loop;
         Append (Result, Self.Text (Start .. Self.Text'Last));
      end return;
   end Complete;

   ------------------
   -- Loading rows --
   ------------------

   package Start_Vectors is new Ada.Containers.Vectors (Positive, Positive);

   Max_In_Text : constant := 256 * 1_024;
   --  The maximum number of bytes of an INSERT with more than one row. max_allowed_packet is rarely
   --  less than 1 MiB.

   --  Sends the rows that follow the first Head_Length bytes of Text. If the server rejects them,
   --  sends each row separately, to find the invalid row. Starts contains the position of each row
   --  in Text.

   procedure Send_Rows
     (DB          : in out Connection;
      Text        : UTF_8_String;
      Head_Length : Positive;
      Starts      : Start_Vectors.Vector;
      First       : Integer_64;
      Current     : not null access Integer_64)
   is
      Wrong : Error_Kind;
   begin
      Current.all := (if Starts.Length = 1 then First else 0);
      Send (DB, Text);
   exception
      when Failure : SQL_Error =>
         Wrong := Error_Of (Failure).Kind;
         if Current.all > 0
           or else DB.In_Autocommit
           or else Wrong not in
             Unique_Violation .. Other_Violation | Wrong_Value | Wrong_Statement | Other_Error
         then
            raise;
         end if;
         for I in 1 .. Natural (Starts.Length) loop
            Current.all := First + Integer_64 (I - 1);
            Send
              (DB,
               Text (Text'First .. Text'First + Head_Length - 1)
               & Text
                 (Starts (I) ..
                      (if I = Natural (Starts.Length) then Text'Last else Starts (I + 1) - 2)));
         end loop;
   end Send_Rows;

   overriding procedure Load_Rows
     (Self           : in out Connection;
      Table, Columns : UTF_8_String;
      Next           : not null access function
        (Row : in out SQL.Statement'Class) return Boolean;
      Current        : not null access Integer_64)
   is
      Head   : constant UTF_8_String :=
        "INSERT INTO " & Table & " (" & Columns & ") VALUES ";
      Row    : Statement;
      Text   : Unbounded_String := To_Unbounded_String (Head);
      Starts : Start_Vectors.Vector;
      Rows   : Integer_64 := 0;

      procedure Send_Text is
      begin
         if not Starts.Is_Empty then
            Send_Rows
              (Self, To_String (Text), Head'Length, Starts,
               Rows - Integer_64 (Starts.Length) + 1, Current);
            Starts.Clear;
            Set_Unbounded_String (Text, Head);
         end if;
      end Send_Text;
   begin
      Make_Ready_In_Time (Self);
      Row.Prepare_Client_Side (Self, Column_Placeholders (Columns));
      loop
         Current.all := Rows + 1;
         exit when not Next (Row);
         declare
            Values : constant UTF_8_String := Complete (Row);
         begin
            if Length (Text) + Values'Length > Max_In_Text then
               Send_Text;
            end if;
            if not Starts.Is_Empty then
               Append (Text, ",");
            end if;
            Starts.Append (Length (Text) + 1);
            Append (Text, Values);
            Rows := Rows + 1;
         end;
      end loop;
      Send_Text;
      Self.Affected := Rows;
      Current.all   := Rows;
   end Load_Rows;

   function Moment_Of (Slot : MariaDB.Slot) return Moment is
     (Year       => Natural (Slot.Moment.Year),
      Month      => Natural (Slot.Moment.Month),
      Day        => Natural (Slot.Moment.Day),
      Hour       => Natural (Slot.Moment.Hour),
      Minute     => Natural (Slot.Moment.Minute),
      Second     => Natural (Slot.Moment.Second),
      Nanosecond => Natural (Slot.Moment.Microsecond) * 1_000);

   -------------
   -- Batches --
   -------------

   --  Enables multiple statements in one text. Used only while this package sends texts that it has
   --  generated, and never for texts of the program.

   type Many_Statements (DB : not null access constant Connection_Handle) is
     limited new Ada.Finalization.Limited_Controlled with null record;

   overriding procedure Finalize (Self : in out Many_Statements);

   overriding procedure Finalize (Self : in out Many_Statements) is
      Ignored : int;
   begin
      Ignored := set_server_option (Self.DB.all, Multi_Statements_Off);
   end Finalize;

   --  Skips the rows of the current result, and counts them

   procedure Count_Rows (DB : Connection_Handle; Rows : out Integer_64) is
      Result : constant Result_Handle := use_result (DB);
   begin
      Rows := 0;
      while Result /= No_Result and then fetch_row (Result) /= System.Null_Address loop
         Rows := Rows + 1;
      end loop;
      free_result (Result);
      if errno (DB) /= OK then
         Raise_Latest (DB);
      end if;
   end Count_Rows;

   --  Counts has an element for each statement in Text. The server stops at the first statement
   --  that fails.

   procedure Send_Many
     (Owner   : in out Connection;
      Text    : String;
      Counts  : out Count_List;
      Current : not null access Integer_64)
   is
      Limit : Time_Limits.Operation (Owner'Unchecked_Access) with Unreferenced;
      DB    : aliased constant Connection_Handle := Owner.Handle;
      Mode  : Many_Statements (DB'Access) with Unreferenced;
   begin
      Current.all := Integer_64 (Counts'First);
      if set_server_option (DB, Multi_Statements_On) /= 0 then
         Raise_Latest (DB);
      end if;
      for I in Counts'Range loop
         Current.all := Integer_64 (I);
         if I = Counts'First then
            Send (DB, Text);
         elsif next_result (DB) /= 0 then
            Raise_Latest (DB);
         end if;
         if field_count (DB) = 0 then
            Owner.Affected := affected_rows (DB);
         else
            Count_Rows (DB, Owner.Affected);
         end if;
         Counts (I) := Owner.Affected;
      end loop;
   end Send_Many;

   --  Copies the values of a prepared statement to a statement that is sent as text

   procedure Copy_Values (From : Statement; To : in out Statement) is

      procedure Copy (I : Positive; Slot : MariaDB.Slot; Kind : Type_Code) is
         function Bytes return String is (Slot.Bytes (1 .. Natural (Slot.Length)));
      begin
         if Slot.Is_Null /= 0 then
            To.Bind_Null (I);
         else
            case Kind is
               when Type_Long_Long => To.Bind (I, Slot.Int);
               when Type_Double    => To.Bind (I, Slot.Float);
               when Type_Date_Time => Bind_Literal (To, I, Literal_Of (Moment_Of (Slot)));
               when Type_Decimal   => Bind_Literal (To, I, Bytes);
               when Type_Blob      => Bind_Literal (To, I, Literal_Of_Bytes (Bytes));
               when others         => Bind_Literal (To, I, Literal_Of_Text (Bytes));
            end case;
         end if;
      end Copy;

   begin
      for I in From.Inputs.Slots'Range loop
         Copy (I, From.Inputs.Slots (I), From.Inputs.Bindings (I).Kind);
      end loop;
   end Copy_Values;

   Max_Statements : constant := 500;
   --  The maximum number of statements in a text

   procedure Run_In_Texts
     (Self    : in out Statement;
      Bind    : not null access procedure
        (To : in out SQL.Statement'Class; Element : Positive);
      Counts  : out Count_List;
      Current : not null access Integer_64)
   is
      Owner       : Connection renames Connection (Self.Owner.all);
      Escapes     : constant Boolean := Self.Escapes;
      Is_Prepared : constant Boolean := Self.Handle /= No_Statement;
      Copy        : Statement;
      Text        : Unbounded_String;
      First       : Positive := 1;

      procedure Send_Up_To (Last : Natural) is
      begin
         if First <= Last then
            Send_Many (Owner, To_String (Text), Counts (First .. Last), Current);
            Set_Unbounded_String (Text, "");
            First := Last + 1;
         end if;
      end Send_Up_To;

      procedure Add (Single : String; Element : Positive) is
      begin
         if Length (Text) + Single'Length > Max_In_Text
           or else Element - First = Max_Statements
         then
            Send_Up_To (Element - 1);
         end if;
         Append (Text, (if Length (Text) = 0 then Single else ASCII.LF & ";" & Single));
      end Add;

   begin
      if Is_Prepared then
         Copy.Prepare_Client_Side (Owner, Self.Text.all);
      end if;
      for I in Counts'Range loop
         Current.all := Integer_64 (I);
         Bind (SQL.Statement'Class (Self), I);
         if Backslash_Escapes (Owner.Handle) /= Escapes then
            Raise_Error ("0A000", 0, "the SQL mode changed while a batch was being bound");
         end if;
         if Is_Prepared then
            Copy_Values (From => Self, To => Copy);
            Add (Complete (Copy), I);
         else
            Add (Complete (Self), I);
         end if;
      end loop;
      Send_Up_To (Counts'Last);
   end Run_In_Texts;

   overriding procedure Run_Each
     (Self    : in out Statement;
      Bind    : not null access procedure
        (To : in out SQL.Statement'Class; Element : Positive);
      Counts  : out Count_List;
      Current : not null access Integer_64)
   is
      Owner : Connection renames Connection (Self.Owner.all);
   begin
      Make_Ready_In_Time (Owner);
      if Self.Handle = No_Statement then
         Check_Mode (Self);
      end if;
      if Counts'Length > 1
        and then Self.Escapes = Backslash_Escapes (Owner.Handle)
        and then MariaDB_Texts.Changes_Rows (Self.Text.all, Self.Escapes)
      then
         Run_In_Texts (Self, Bind, Counts, Current);
      else
         SQL.Statement (Self).Run_Each (Bind, Counts, Current);
      end if;
   end Run_Each;

   procedure Run_Text (Self : in out Statement) is
      Owner : Connection renames Connection (Self.Owner.all);
   begin
      if Self.Parameters = 0 then
         Send (Owner.Handle, Self.Text.all);
      else
         Check_Mode (Self);
         Send (Owner.Handle, Complete (Self));
      end if;
      if field_count (Owner.Handle) = 0 then
         Owner.Affected := affected_rows (Owner.Handle);
      else
         Self.Result :=
           (if Self.Streams then use_result (Owner.Handle) else store_result (Owner.Handle));
         if Self.Result = No_Result then
            Raise_Latest (Owner.Handle);
         elsif Self.Changes then
            Owner.Affected := (if Self.Streams then 0 else num_rows (Self.Result));
         end if;
      end if;
      if Self.Result = No_Result or else not Self.Streams then
         Discard_Results (Owner.Handle);
      end if;
   end Run_Text;

   function Next_Row (Self : in out Statement) return Boolean is
   begin
      Self.Row := fetch_row (Self.Result);
      if Self.Row = System.Null_Address then
         if Self.Streams and then errno (Handle_Of (Self)) /= OK then
            Raise_Latest (Handle_Of (Self));
         end if;
         return False;
      end if;
      Self.Lengths := fetch_lengths (Self.Result);
      return True;
   end Next_Row;

   -----------------------------------
   -- Running: a prepared statement --
   -----------------------------------

   procedure Fail (Self : in out Statement) with No_Return, No_Inline;
   procedure Fail (Self : in out Statement) is
   begin
      Self.Is_Stale := Self.Is_Stale or else
        stmt_errno (Self.Handle) in Unknown_Statement | Needs_Preparing | Columns_Changed;
      Raise_Latest (Handle_Of (Self), Self.Handle);
   end Fail;

   subtype Integer_Type is Type_Code
     with Static_Predicate => Integer_Type in
       Type_Tiny | Type_Short | Type_Long | Type_Int_24 | Type_Long_Long | Type_Year;
   subtype Float_Type is Type_Code
     with Static_Predicate => Float_Type in Type_Float | Type_Double;
   subtype Moment_Type is Type_Code
     with Static_Predicate => Moment_Type in Type_Timestamp | Type_Date_Time | Type_Date;

   Max_Initial : constant := 1_024;
   --  The maximum initial size of the buffer for a value, in bytes

   procedure Point_To_Bytes (Values : in out Exchange; I : Positive; Length : Natural) is
   begin
      Make_Room (Values.Slots (I), Length);
      Values.Bindings (I).Buffer        := Values.Slots (I).Bytes (1)'Address;
      Values.Bindings (I).Buffer_Length := Values.Slots (I).Bytes'Length;
   end Point_To_Bytes;

   --  Chooses the format that corresponds to the type of the column

   procedure Describe (Values : in out Exchange; I : Positive; Field : MariaDB_Library.Field) is
      Slot    : MariaDB.Slot renames Values.Slots (I);
      Binding : MariaDB_Library.Binding renames Values.Bindings (I);
   begin
      Slot.Kind        := Field.Kind;
      Slot.Is_Unsigned := (Field.Flags and Flag_Unsigned) /= 0;
      Slot.Decimals    := Natural (Field.Decimals);
      case Field.Kind is
         when Integer_Type =>
            Binding.Kind        := Type_Long_Long;
            Binding.Buffer      := Slot.Int'Address;
            Binding.Is_Unsigned := Boolean'Pos (Slot.Is_Unsigned);
         when Float_Type =>
            Binding.Kind   := Type_Double;
            Binding.Buffer := Slot.Float'Address;
         when Moment_Type =>
            Binding.Kind   := Type_Date_Time;
            Binding.Buffer := Slot.Moment'Address;
         when others =>
            Binding.Kind := Type_String;
            Point_To_Bytes (Values, I, Natural (unsigned_long'Min (Field.Length, Max_Initial)));
      end case;
   end Describe;

   --  The types of columns may differ from the previous execution, as in SELECT ?

   procedure Prepare_Outputs (Self : in out Statement) is
      Count  : constant Natural := Natural (num_fields (Self.Result));
      Fields : array (1 .. Count) of Field with Import, Address => fetch_fields (Self.Result);
      Same   : constant Boolean :=
        Self.Outputs /= null
        and then Self.Outputs.Count = Count
        and then (Status_Of (Handle_Of (Self)) and More_Results) = 0
        and then (for all I in Fields'Range =>
                    Self.Outputs.Slots (I).Kind = Fields (I).Kind
                    and then Self.Outputs.Slots (I).Is_Unsigned =
                      ((Fields (I).Flags and Flag_Unsigned) /= 0));
   begin
      if Same then
         return;
      end if;
      Release (Self.Outputs);
      Self.Outputs := New_Exchange (Count);
      for I in Fields'Range loop
         Describe (Self.Outputs.all, I, Fields (I));
      end loop;
      if stmt_bind_result (Self.Handle, Self.Outputs.Bindings) /= 0 then
         Fail (Self);
      end if;
   end Prepare_Outputs;

   --  Prepares a statement again, after the server has dropped it or can no longer execute it. The
   --  values stay bound.

   procedure Prepare_Again (Self : in out Statement) with No_Inline;
   procedure Prepare_Again (Self : in out Statement) is
      DB      : constant Connection_Handle := Handle_Of (Self);
      Handle  : constant Statement_Handle  := Prepared (DB, Self.Text.all);
      Ignored : my_bool;
   begin
      Ignored       := stmt_close (Self.Handle);
      Self.Handle   := Handle;
      Self.Escapes  := Backslash_Escapes (DB);
      Self.Bound    := False;
      Self.Is_Stale := False;
      Release (Self.Outputs);
      if Natural (stmt_param_count (Handle)) /= Self.Parameters then
         Self.Is_Stale := True;
         Raise_Error ("0A000", 0, "the number of the statement's parameters has changed");
      end if;
   end Prepare_Again;

   procedure Run_Prepared (Self : in out Statement) is
      Owner : Connection renames Connection (Self.Owner.all);
   begin
      if Self.Is_Stale then
         Prepare_Again (Self);
      end if;
      if not Self.Bound then
         if stmt_bind_param (Self.Handle, Self.Inputs.Bindings) /= 0 then
            Fail (Self);
         end if;
         Self.Bound := True;
      end if;
      if stmt_execute (Self.Handle) /= 0 then
         Fail (Self);
      end if;
      Self.Result := stmt_result_metadata (Self.Handle);
      if Self.Result = No_Result then
         Owner.Affected := stmt_affected_rows (Self.Handle);
      else
         Prepare_Outputs (Self);
         if not Self.Streams then
            if stmt_store_result (Self.Handle) /= 0 then
               --  Otherwise the library would wait for more rows in the next execution
               Self.Is_Stale := True;
               Fail (Self);
            end if;
            Discard_Results (Owner.Handle);
         end if;
         if Self.Changes then
            Owner.Affected := (if Self.Streams then 0 else stmt_num_rows (Self.Handle));
         end if;
      end if;
   end Run_Prepared;

   --  Fetches values that were longer than their buffers again, into longer buffers

   procedure Fetch_Again (Self : in out Statement) is
      Values : Exchange renames Self.Outputs.all;
   begin
      for I in Values.Slots'Range loop
         if Values.Bindings (I).Kind = Type_String
           and then Values.Slots (I).Length > Values.Bindings (I).Buffer_Length
         then
            Point_To_Bytes (Values, I, Natural (Values.Slots (I).Length));
            if stmt_fetch_column (Self.Handle, Values.Bindings (I), unsigned (I - 1), 0) /= 0 then
               Fail (Self);
            end if;
         end if;
      end loop;
      if stmt_bind_result (Self.Handle, Values.Bindings) /= 0 then
         Fail (Self);
      end if;
   end Fetch_Again;

   function Next_Prepared_Row (Self : in out Statement) return Boolean is
   begin
      case stmt_fetch (Self.Handle) is
         when 0 =>
            return True;
         when No_Data =>
            return False;
         when Data_Truncated =>
            Fetch_Again (Self);
            return True;
         when others =>
            Fail (Self);
      end case;
   end Next_Prepared_Row;

   -------------
   -- Running --
   -------------

   procedure Run (Self : in out Statement) is
      Owner : Connection renames Connection (Self.Owner.all);
      Limit : Time_Limits.Operation (Self.Owner) with Unreferenced;
   begin
      Make_Ready (Owner);
      if Self.Handle = No_Statement then
         Run_Text (Self);
      else
         Run_Prepared (Self);
      end if;
      Owner.Streams := Self.Streams and then Self.Result /= No_Result;
      Owner.Gate.Has_Stream := Owner.Streams;
   exception
      when others =>
         Abandon_Result (Self);
         raise;
   end Run;

   function Next_Of_Result (Self : in out Statement) return Boolean is
     (if Self.Handle = No_Statement then Next_Row (Self) else Next_Prepared_Row (Self)) with Inline;

   function Next_Of_Stream (Self : in out Statement) return Boolean is
      Limit : Time_Limits.Operation (Self.Owner) with Unreferenced;
   begin
      return Has_Row : constant Boolean := Next_Of_Result (Self) do
         if Has_Row then
            Count_Row (Self);
         end if;
      end return;
   end Next_Of_Stream;

   overriding function Step (Self : in out Statement) return Boolean is
   begin
      if Self.Result = No_Result then
         Run (Self);
         if Self.Result = No_Result then
            return False;
         end if;
         Self.Columns := Natural (num_fields (Self.Result));
      end if;
      if (if Self.Streams then Next_Of_Stream (Self) else Next_Of_Result (Self)) then
         return True;
      end if;
      Drop_Result (Self);
      return False;
   exception
      when others =>
         Abandon_Result (Self);
         raise;
   end Step;

   --  The rows of a stream may be followed by an error

   overriding procedure Execute (Self : in out Statement) is
   begin
      if Self.Streams then
         while Self.Step loop
            null;
         end loop;
         return;
      elsif Self.Result = No_Result then
         Run (Self);
      end if;
      Drop_Result (Self);
   end Execute;

   overriding procedure Reset (Self : in out Statement) is
   begin
      Drop_Result (Self);
   end Reset;

   overriding procedure Unbind (Self : in out Statement) is
   begin
      Drop_Result (Self);
      for Slot of Self.Inputs.Slots loop
         Slot.Is_Null := 1;
      end loop;
   end Unbind;

   -------------
   -- Reading --
   -------------

   --  The addresses and lengths of the values in a row of a text

   function Start_Of (Self : Statement; Column : Column_Number) return System.Address is
      Row : array (1 .. Self.Columns) of System.Address with Import, Address => Self.Row;
   begin
      return Row (Column);
   end Start_Of;

   function Length_Of (Self : Statement; Column : Column_Number) return Natural is
      Lengths : array (1 .. Self.Columns) of unsigned_long with Import, Address => Self.Lengths;
   begin
      return Natural (Lengths (Column));
   end Length_Of;

   overriding function Is_Null (Self : Statement; Column : Column_Number) return Boolean is
     (if Self.Handle = No_Statement then Start_Of (Self, Column) = System.Null_Address
      else Self.Outputs.Slots (Column).Is_Null /= 0);

   procedure Check_Null (Self : Statement; Column : Column_Number) with Inline;
   procedure Check_Null (Self : Statement; Column : Column_Number) is
   begin
      if Self.Is_Null (Column) then
         Refuse_Null (Column);
      end if;
   end Check_Null;

   --  Half of the unsigned values do not fit into an Integer_64

   function To_Unsigned is new Ada.Unchecked_Conversion (Integer_64, Interfaces.Unsigned_64);

   function Image (Value : Interfaces.Unsigned_64) return String is
     (Ada.Strings.Fixed.Trim (Value'Image, Ada.Strings.Left));

   function Signed_Value (Slot : MariaDB.Slot; Column : Column_Number) return Integer_64 is
   begin
      if Slot.Is_Unsigned and then Slot.Int < 0 then
         Refuse_Range (Column, "a signed 64-bit integer");
      end if;
      return Slot.Int;
   end Signed_Value;

   Date_Length : constant := 10;

   function Text_Of (Slot : MariaDB.Slot) return UTF_8_String is
     (case Slot.Kind is
         when Integer_Type =>
           (if Slot.Is_Unsigned then Image (To_Unsigned (Slot.Int)) else Image (Slot.Int)),
         when Float_Type => Image (Slot.Float),
         when Type_Date => Image (Moment_Of (Slot), 0) (1 .. Date_Length),
         when Type_Timestamp | Type_Date_Time =>
           Image (Moment_Of (Slot), Second_Decimals'Min (Slot.Decimals, 6)),
         when others      => Slot.Bytes (1 .. Natural (Slot.Length)));

   --  Returns the bytes of a value that is not null

   function Bytes_Of (Self : Statement; Column : Column_Number) return UTF_8_String is
   begin
      if Self.Handle /= No_Statement then
         return Text_Of (Self.Outputs.Slots (Column));
      end if;
      declare
         Bytes : String (1 .. Length_Of (Self, Column))
           with Import, Address => Start_Of (Self, Column);
      begin
         return Bytes;
      end;
   end Bytes_Of;

   overriding function As_Text
     (Self : Statement; Column : Column_Number) return UTF_8_String is
   begin
      Check_Null (Self, Column);
      return Bytes_Of (Self, Column);
   end As_Text;

   overriding function As_Integer_64
     (Self : Statement; Column : Column_Number) return Integer_64 is
   begin
      Check_Null (Self, Column);
      if Self.Handle = No_Statement then
         declare
            Bytes : String (1 .. Length_Of (Self, Column))
              with Import, Address => Start_Of (Self, Column);
         begin
            return To_Integer_64 (Bytes, Column);
         end;
      elsif Self.Outputs.Slots (Column).Kind in Integer_Type then
         return Signed_Value (Self.Outputs.Slots (Column), Column);
      else
         return To_Integer_64 (Bytes_Of (Self, Column), Column);
      end if;
   end As_Integer_64;

   overriding function As_Boolean (Self : Statement; Column : Column_Number) return Boolean is
     (To_Boolean (Self.As_Integer_64 (Column), Column));

   overriding function As_Blob (Self : Statement; Column : Column_Number) return Blob is
      Text  : constant UTF_8_String := Self.As_Text (Column);
      Bytes : Blob (1 .. Text'Length) with Import, Address => Text'Address;
   begin
      return Bytes;
   end As_Blob;

   overriding function As_Integer_32
     (Self : Statement; Column : Column_Number) return Integer_32 is
     (Narrowed (Self.As_Integer_64 (Column), Column));

   overriding function As_Float
     (Self : Statement; Column : Column_Number) return Long_Float is
   begin
      Check_Null (Self, Column);
      return
        (if Self.Handle /= No_Statement and then Self.Outputs.Slots (Column).Kind in Float_Type
         then Self.Outputs.Slots (Column).Float
         else To_Float (Bytes_Of (Self, Column), Column));
   end As_Float;

   overriding function As_Time
     (Self : Statement; Column : Column_Number) return Ada.Calendar.Time is
   begin
      Check_Null (Self, Column);
      return
        (if Self.Handle /= No_Statement and then Self.Outputs.Slots (Column).Kind in Moment_Type
         then To_Time (Moment_Of (Self.Outputs.Slots (Column)), Column)
         else To_Time (Bytes_Of (Self, Column), Column));
   end As_Time;

   --  The type of the column distinguishes exact numbers from floating-point numbers

   function Type_Of (Self : Statement; Column : Column_Number) return Type_Code is
      Fields : array (1 .. Self.Columns) of Field
        with Import, Address => fetch_fields (Self.Result);
   begin
      return Fields (Column).Kind;
   end Type_Of;

   overriding function As_Scaled
     (Self : Statement; Column : Column_Number; Scale : Decimal_Scale) return Integer_64 is
   begin
      Check_Null (Self, Column);
      return
        (if Type_Of (Self, Column) in Float_Type
         then Rounded (Self.As_Float (Column), Scale, Column)
         else To_Scaled (Bytes_Of (Self, Column), Scale, Column));
   end As_Scaled;

   overriding function Column_Name
     (Self : Statement; Column : Column_Number) return UTF_8_String
   is
      Fields : array (1 .. Self.Columns) of Field
        with Import, Address => fetch_fields (Self.Result);
   begin
      return Strings.Value (Fields (Column).Name);
   end Column_Name;

   --  Initializes the library, since its first use must not be by two tasks concurrently

   Ignored : constant int := server_init (0);

end Appserver.SQL.MariaDB;
