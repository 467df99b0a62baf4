--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Calendar;
with Ada.Exceptions;
with Ada.Finalization;
with Ada.Real_Time;
with Ada.Strings.Fixed;
with Ada.Strings.Unbounded;
with Ada.Unchecked_Conversion;
with Ada.Unchecked_Deallocation;
with Appserver.SQL.Detached_Calls;
with Appserver.SQL.Host_Addresses;
with Appserver.SQL.PostgreSQL_Lines;
with Appserver.SQL.PostgreSQL_Texts;
with Appserver.SQL.Text_Values;
with Appserver.SQL.Time_Limits;
with System;

package body Appserver.SQL.PostgreSQL is

   use Ada.Strings.Unbounded;
   use PostgreSQL_Library;
   use PostgreSQL_Lines;
   use Text_Values;
   use type Interfaces.Integer_64;
   use type Strings.chars_ptr;
   use type System.Address;

   function Library_Version return String is
      Number : constant Integer_64 := Integer_64 (libVersion);
   begin
      return Image (Number / 10_000) & "." & Image (Number mod 10_000);
   end Library_Version;

   ------------
   -- Errors --
   ------------

   function To_Chars_Ptr is new Ada.Unchecked_Conversion (System.Address, Strings.chars_ptr);

   function Value_Of (Text : Strings.chars_ptr) return String is
     (if Text = Strings.Null_Ptr then "" else Strings.Value (Text));

   --  The error "cached plan must not change result type" has the state of all unsupported
   --  features. The name of the server's function identifies it, independent of the language of
   --  messages.

   function Has_Stale_Plan (Result : Result_Handle) return Boolean is
     (Value_Of (resultErrorField (Result, Field_State)) = "0A000"
      and then Value_Of (resultErrorField (Result, Field_Function)) = "RevalidateCachedQuery");

   Unknown_Statement : constant SQL_State := "26000";

   function First_Line (Text : String) return String is
     (Text (Text'First .. Ada.Strings.Fixed.Index (Text & ASCII.LF, [1 => ASCII.LF]) - 1));

   --  Raises the error of a failed command. Result is the result of the command, or No_Result.
   --  Releases Result.

   procedure Raise_Failure (DB : Connection_Handle; Result : Result_Handle)
     with No_Return, No_Inline;
   procedure Raise_Failure (DB : Connection_Handle; Result : Result_Handle) is
      State    : constant String :=
        (if Has_Stale_Plan (Result) then Unknown_Statement
         else Value_Of (resultErrorField (Result, Field_State)));
      Message  : constant String := Value_Of (resultErrorField (Result, Field_Message));
      Detail   : constant String := Value_Of (resultErrorField (Result, Field_Detail));
      Violated : constant String := Value_Of (resultErrorField (Result, Field_Constraint));
      Outcome  : constant Result_Status := resultStatus (Result);
   begin
      clear (Result);
      case Outcome is
         when Empty_Query =>
            Raise_Error ("42601", 0, "the text contains no statement");
         when Copy_In | Copy_Out =>
            clear (exec (DB, To_C ("")));  --  ends the COPY
            Raise_Error
              ("0A000", 0, "COPY is not supported: use Appserver.SQL.Batches to load rows");
         when others =>
            Raise_Error
              ((if State /= "" then State
                elsif status (DB) /= Connection_OK then "08006" else "HY000"),
               0,
               (if Message /= "" then Message else First_Line (Value_Of (errorMessage (DB)))),
               From_PostgreSQL, Detail, Violated);
      end case;
   end Raise_Failure;

   --  Runs texts of this package with the library's simple functions

   procedure Check_Idle (DB : Connection_Handle) with Inline;
   procedure Check_Idle (DB : Connection_Handle) is
   begin
      if transactionStatus (DB) = Active then
         Raise_Error
           ("HY010", 0, "another statement is streaming rows: read all of them, or call Reset");
      end if;
   end Check_Idle;

   procedure Run (DB : Connection_Handle; Text : String) is
      Result : Result_Handle;
   begin
      Check_Idle (DB);
      Result := exec (DB, To_C (Text));
      if resultStatus (Result) /= Command_OK then
         Raise_Failure (DB, Result);
      end if;
      clear (Result);
   end Run;

   --------------
   -- Settings --
   --------------

   Set_UTC : constant String := "SET TimeZone = 'UTC'";

   --  Restores the settings that this package requires, regardless of what the server, the role or
   --  the program sets: times are in ISO 8601, and texts in UTF-8. The server reports changes of
   --  these settings. In a failed transaction, settings cannot be changed, but nothing can be read
   --  either.

   procedure Restore_Settings (DB : Connection_Handle) is

      function Begins_With (Setting : char_array; Text : String) return Boolean is
         Value : constant String := Value_Of (parameterStatus (DB, Setting));
      begin
         return Value'Length >= Text'Length
           and then Value (Value'First .. Value'First + Text'Length - 1) = Text;
      end Begins_With;

   begin
      if transactionStatus (DB) in In_Error | Unknown then
         return;
      end if;
      if not Begins_With (To_C ("DateStyle"), "ISO") then
         Run (DB, "SET DateStyle = ISO");
      end if;
      if not Begins_With (To_C ("client_encoding"), "UTF8") then
         Run (DB, "SET client_encoding = UTF8");
      end if;
   end Restore_Settings;

   -------------
   -- Notices --
   -------------

   procedure Set_Notice_Handler (Self : in out Connection; Handler : Notice_Handler) is
   begin
      Self.On_Notice := Handler;
   end Set_Notice_Handler;

   --  Receives notices, which the library would otherwise write to standard error. Exceptions must
   --  not propagate through C code.

   procedure Receive_Notice (Handler : System.Address; Notice : Result_Handle)
     with Convention => C;
   procedure Receive_Notice (Handler : System.Address; Notice : Result_Handle) is
      Receiver : Notice_Handler with Import, Address => Handler;
      State    : constant String := Value_Of (resultErrorField (Notice, Field_State));
   begin
      if Receiver /= null then
         Receiver
           ((if State'Length = SQL_State'Length then State else "01000"),
            Value_Of (resultErrorField (Notice, Field_Message)));
      end if;
   exception
      when others => null;
   end Receive_Notice;

   -------------
   -- Opening --
   -------------

   overriding function Is_Open (Self : Connection) return Boolean is
     (Self.Handle /= No_Connection);

   overriding function Is_Connected (Self : Connection) return Boolean is
     (status (Self.Handle) = Connection_OK and then not Self.Gate.Is_Lost);

   overriding function Socket (Self : Connection) return Integer is
     (if Self.Handle = No_Connection then -1 else Integer (socket (Self.Handle)));

   function Host_Of (DB : Connection_Handle) return String is
     (Value_Of (host (DB)) & " port " & Value_Of (port (DB)));

   --  Waits until the socket is ready for the library's next step

   procedure Await (DB : Connection_Handle; Next : Polling_Status; Stop : Ada.Real_Time.Time) is
      use Ada.Real_Time;

      File  : Poll_Descriptor :=
        (File     => socket (DB),
         Events   => (if Next = Polling_Reading then Poll_In else Poll_Out),
         Returned => 0);
      Left  : Time_Span;
      Ready : int;
   begin
      loop
         Left  := Stop - Clock;
         Ready := poll
           (File, 1, (if Left < Time_Span_Zero then 0 else int (Left / Milliseconds (1))));
         exit when Ready > 0;
         if Ready = 0 then
            Raise_Error ("08001", 0, "no response in time from " & Host_Of (DB));
         end if;
      end loop;
   end Await;

   procedure Connect (DB : Connection_Handle; Stop : Ada.Real_Time.Time) is
      Next : Polling_Status := Polling_Writing;
   begin
      while Next in Polling_Reading | Polling_Writing and then socket (DB) >= 0 loop
         Await (DB, Next, Stop);
         Next := connectPoll (DB);
      end loop;
   end Connect;

   --  While connecting, the library reports the SQLSTATE only in its verbose message:
   --
   --     connection to server at … failed: FATAL:  28P01: password authentication failed …

   procedure Raise_Refusal (DB : Connection_Handle) with No_Return;
   procedure Raise_Refusal (DB : Connection_Handle) is
      Message : constant String  := First_Line (Value_Of (errorMessage (DB)));
      Spaces  : constant Natural := Ada.Strings.Fixed.Index (Message, ":  ");
      State   : constant Natural := Spaces + 3;
   begin
      if Spaces > 0
        and then Message'Last - State >= 6
        and then (for all C of Message (State .. State + 4) => C in '0' .. '9' | 'A' .. 'Z')
        and then Message (State + 5) = ':'
      then
         Raise_Error
           (Message (State .. State + 4), 0,
            Message (Message'First .. State - 1) & Message (State + 7 .. Message'Last),
            From_PostgreSQL);
      else
         Raise_Error ("08001", 0, Message, From_PostgreSQL);
      end if;
   end Raise_Refusal;

   --------------------
   -- Opening: hosts --
   --------------------

   --  A target may contain multiple hosts, and a host may have multiple addresses. The library
   --  would resolve names without a timeout, and one unresponsive host would use up the time of all
   --  hosts. So each address is tried separately, with its fraction of the remaining time.

   use Host_Addresses;

   type Attempt is record
      Host, Address, Port, Kind : Unbounded_String;
   end record;
   --  The options host, hostaddr, port and target_session_attrs. An empty option is not set.

   --  Starts to connect. With To_Look_Up, the library only determines the options, because one of
   --  them is deliberately invalid. If the target contains a password, the library does not search
   --  for another one.

   function Started
     (Target : String; Try : Attempt; To_Look_Up : Boolean := False) return Connection_Handle
   is
      Max_Options : constant := 8;

      Keywords, Values : Word_List (1 .. Max_Options + 1) := [others => Strings.Null_Ptr];
      Count            : Natural := 0;

      procedure Add (Keyword, Value : String) is
      begin
         if Value /= "" then
            Count := Count + 1;
            Keywords (Count) := Strings.New_String (Keyword);
            Values (Count)   := Strings.New_String (Value);
         end if;
      end Add;
   begin
      Add ("dbname", Target);
      Add ("client_encoding", "UTF8");
      Add ("host", To_String (Try.Host));
      Add ("hostaddr", To_String (Try.Address));
      Add ("port", To_String (Try.Port));
      Add ("target_session_attrs", To_String (Try.Kind));
      if To_Look_Up then
         Add ("sslmode", "none");
         Add ("password", "none");
      end if;
      return DB : constant Connection_Handle :=
        connectStartParams (Keywords, Values, Expand_Name => 1)
      do
         for I in 1 .. Count loop
            Strings.Free (Keywords (I));
            Strings.Free (Values (I));
         end loop;
      end return;
   end Started;

   --  Returns the element with this number in a comma-separated list

   function Part (List : String; Number : Positive) return String is
      First : Positive := List'First;
      Comma : Natural;
   begin
      for Skipped in 2 .. Number loop
         First := Ada.Strings.Fixed.Index (List, ",", From => First) + 1;
      end loop;
      Comma := Ada.Strings.Fixed.Index (List (First .. List'Last), ",");
      return List (First .. (if Comma = 0 then List'Last else Comma - 1));
   end Part;

   function Parts (List : String) return Positive is (Ada.Strings.Fixed.Count (List, ",") + 1);

   function Value_In (Options : Options_Access; Keyword : String) return String is
   begin
      if Options /= null then
         for Option of Options.all loop
            exit when Option.Keyword = Strings.Null_Ptr;
            if Strings.Value (Option.Keyword) = Keyword then
               return Value_Of (Option.Value);
            end if;
         end loop;
      end if;
      return "";
   end Value_In;

   type Host_List is record
      Hosts, Addresses, Ports, Kind : Unbounded_String;
   end record;

   --  Returns the hosts from Target, its service, or the environment, in this order of precedence

   function Hosts_Of (Target : String) return Host_List is
      DB      : constant Connection_Handle := Started (Target, (others => <>), To_Look_Up => True);
      Options : constant Options_Access := conninfo (DB);

      function Option (Keyword : String) return Unbounded_String is
        (To_Unbounded_String (Value_In (Options, Keyword)));
   begin
      return Result : constant Host_List :=
        (Option ("host"), Option ("hostaddr"), Option ("port"), Option ("target_session_attrs"))
      do
         conninfoFree (Options);
         finish (DB);
      end return;
   end Hosts_Of;

   function Is_Resolved (Host : String) return Boolean is
     (Host = "" or else Host (Host'First) in '/' | '@');
   --  True for a directory of Unix sockets

   procedure Open_At
     (Self : in out Connection; Target : String; Try : Attempt; Stop : Ada.Real_Time.Time)
   is
      DB      : constant Connection_Handle := Started (Target, Try);
      Ignored : int;
   begin
      Ignored := setErrorVerbosity (DB, Verbosity_Verbose);
      setNoticeReceiver (DB, Receive_Notice'Access, Self.On_Notice'Address);
      Connect (DB, Stop);
      if status (DB) /= Connection_OK then
         Raise_Refusal (DB);
      end if;
      Ignored     := setErrorVerbosity (DB, Verbosity_Default);
      Self.Handle := DB;
   exception
      when others =>
         finish (DB);
         raise;
   end Open_At;

   --  Tries the hosts in order. Like the library, continues with the next host unless a server
   --  rejects the client.

   procedure Open_Any
     (Self   : in out Connection;
      Target : String;
      Kind   : String;
      Hosts  : Host_List;
      Stop   : Ada.Real_Time.Time)
   is
      use Ada.Real_Time;

      Host_Names : constant String := To_String (Hosts.Hosts);
      Numeric    : constant String := To_String (Hosts.Addresses);
      Port_Names : constant String := To_String (Hosts.Ports);
      Count      : constant Positive :=
        Parts (if Numeric /= "" then Numeric else Host_Names);
      Failure     : Ada.Exceptions.Exception_Occurrence;

      function Share (Until_Then : Time; Left : Positive) return Time is
        (Clock + (Until_Then - Clock) / Left);

      procedure Open_Host (Number : Positive; Last : Time) is
         Host  : constant String := (if Host_Names = "" then "" else Part (Host_Names, Number));
         Port  : constant String :=
           (if Port_Names = "" then ""
            else Part (Port_Names, (if Parts (Port_Names) = 1 then 1 else Number)));
         Found : Text_Vectors.Vector;
      begin
         if Numeric /= "" then
            Found.Append (Part (Numeric, Number));
         elsif Is_Resolved (Host) then
            Found.Append ("");
         else
            Found := Addresses_Of (Host, To_Duration (Last - Clock));
         end if;
         for I in Found.First_Index .. Found.Last_Index loop
            begin
               Open_At
                 (Self, Target,
                  (To_Unbounded_String (Host), To_Unbounded_String (Found (I)),
                   To_Unbounded_String (Port), To_Unbounded_String (Kind)),
                  Share (Last, Found.Last_Index - I + 1));
               return;
            exception
               when Error : SQL_Error =>
                  if State_Of (Error) not in "08001" | "57P03" or else I = Found.Last_Index then
                     raise;
                  end if;
            end;
         end loop;
      end Open_Host;
   begin
      for Number in 1 .. Count loop
         begin
            Open_Host (Number, Share (Stop, Count - Number + 1));
            return;
         exception
            when Error : SQL_Error =>
               if State_Of (Error) not in "08001" | "57P03" then
                  raise;
               end if;
               Ada.Exceptions.Save_Occurrence (Failure, Error);
         end;
      end loop;
      Ada.Exceptions.Reraise_Occurrence (Failure);
   end Open_Any;

   procedure Open_Target
     (Self : in out Connection; Target : String; Stop : Ada.Real_Time.Time)
   is
      Hosts : constant Host_List := Hosts_Of (Target);
      Ports : constant String    := To_String (Hosts.Ports);

      --  If the lists do not match, the library rejects them

      Is_List : constant Boolean :=
        (Hosts.Hosts = "" or else Hosts.Addresses = ""
         or else Parts (To_String (Hosts.Hosts)) = Parts (To_String (Hosts.Addresses)))
        and then
          (Parts (Ports) = 1
           or else Parts (Ports) = Parts
             (To_String (if Hosts.Addresses /= "" then Hosts.Addresses else Hosts.Hosts)));
   begin
      if not Is_List then
         Open_At (Self, Target, (others => <>), Stop);
      elsif Hosts.Kind /= "prefer-standby" then
         Open_Any (Self, Target, To_String (Hosts.Kind), Hosts, Stop);
      else
         declare
            use Ada.Real_Time;
         begin
            Open_Any (Self, Target, "standby", Hosts, Clock + (Stop - Clock) / 2);
         exception
            when Error : SQL_Error =>
               if State_Of (Error) not in "08001" | "57P03" then
                  raise;
               end if;
               Open_Any (Self, Target, "any", Hosts, Stop);
         end;
      end if;
   end Open_Target;

   procedure Open
     (Self            : in out Connection;
      Target          : UTF_8_String;
      Connect_Timeout : Timeout_Duration := Timeout_Duration'Last)
   is
      use type Ada.Real_Time.Time;

      Bound : constant Duration := Time_Limits.Limit_Of (Self);
      Stop  : constant Ada.Real_Time.Time := Ada.Real_Time.Clock
        + Ada.Real_Time.To_Time_Span
          (if Bound > 0.0 then Duration'Min (Bound, Connect_Timeout) else Connect_Timeout);
      Limit : Time_Limits.Time_Limit;
   begin
      Open_Target (Self, Target, Stop);
      Limit.Start (Self, Stop);
      Self.Latest   := 0;
      Self.Affected := 0;
      Self.Begins   := False;
      if Value_Of (parameterStatus (Self.Handle, To_C ("TimeZone"))) /= "UTC" then
         Run (Self.Handle, Set_UTC);
      end if;
      Time_Limits.Begin_Session (Self);
   exception
      when Error : SQL_Error =>
         Self.Close;
         if Error_Of (Error).Kind = Connection_Lost then
            Raise_Error ("08001", 0, Message_Of (Error), From_PostgreSQL);
         end if;
         raise;
   end Open;

   --  Does not close prepared statements, since the server releases them with the connection

   overriding procedure Close (Self : in out Connection) is
      DB : constant Connection_Handle := Self.Handle;
   begin
      if Self.Is_Open then
         Time_Limits.End_Session (Self);
         declare
            Limit : Time_Limits.Cleanup (Self'Unchecked_Access) with Unreferenced;
         begin
            Self.Handle := No_Connection;
            Self.Close_Statements;
            Self.Left.Clear;
            finish (DB);
         end;
      end if;
   end Close;

   -----------------
   -- Connections --
   -----------------

   --  Identifies commands that change rows by the first letters of their tags, as in "INSERT 0 1"

   function Affected_By (Result : Result_Handle; Before : Integer_64) return Integer_64 is
      Tag : String (1 .. 2) with Import, Address => cmdStatus (Result);
   begin
      if Tag not in "IN" | "UP" | "DE" | "ME" then
         return Before;
      end if;
      declare
         Count : constant String := Value_Of (cmdTuples (Result));
      begin
         return (if Count = "" then Before else To_Integer_64 (Count, 1));
      end;
   end Affected_By;

   overriding procedure Execute (Self : in out Connection; Text : UTF_8_String) is
      Command : Statement;
   begin
      Command.Prepare_Client_Side (Self, Text);
      Command.Execute;
   end Execute;

   overriding function Rows_Affected (Self : Connection) return Integer_64 is (Self.Affected);

   overriding function Last_Insert_Id (Self : in out Connection) return Integer_64 is
      Query : Statement;
   begin
      Query.Prepare_Client_Side (Self, "SELECT lastval()");
      return (if Query.Step then Query.As_Integer_64 (1) else 0);
   end Last_Insert_Id;

   overriding function In_Autocommit (Self : Connection) return Boolean is
     (not Self.Begins
      and then (case transactionStatus (Self.Handle) is
                   when In_Transaction | In_Error => False,
                   when Active                    => not Self.Streams_In_Work,
                   when others                    => True));

   --  The library connects to the server and waits, without a timeout, until the server closes the
   --  connection. By then, the server has signaled its session, which discards the signal between
   --  two statements.

   type Cancel_Call is limited record
      Stopper : Cancel_Handle;
      Message : char_array (1 .. Cancel_Message_Length);
      Is_Sent : int := 0;
   end record;

   type Cancel_Call_Access is access all Cancel_Call;
   procedure Free is new Ada.Unchecked_Deallocation (Cancel_Call, Cancel_Call_Access);
   function To_Call is new Ada.Unchecked_Conversion (System.Address, Cancel_Call_Access);

   procedure Send_Cancel (Argument : System.Address) with Convention => C;
   procedure Send_Cancel (Argument : System.Address) is
      Call : constant Cancel_Call_Access := To_Call (Argument);
   begin
      Call.Is_Sent := cancel (Call.Stopper, Call.Message, Call.Message'Length);
   end Send_Cancel;

   procedure Drop_Cancel (Argument : System.Address) with Convention => C;
   procedure Drop_Cancel (Argument : System.Address) is
      Call : Cancel_Call_Access := To_Call (Argument);
   begin
      freeCancel (Call.Stopper);
      Free (Call);
   end Drop_Cancel;

   overriding procedure Cancel (Self : Connection) is
      Mark    : Time_Limits.Cancellation (Self'Unchecked_Access);
      Timeout : constant Duration := Time_Limits.Cancel_Timeout (Self);
      Sending : Detached_Calls.Detached_Call (Send_Cancel'Access, Drop_Cancel'Access);
      Call    : Cancel_Call_Access;
      Is_Done : Boolean;
   begin
      if not (Self.Is_Open and then Time_Limits.Has_Target (Mark)) then
         return;
      end if;
      Call := new Cancel_Call;
      Sending.Own (Call.all'Address);
      Call.Stopper := getCancel (Self.Handle);
      Time_Limits.End_Reading (Mark);
      Time_Limits.Begin_Request (Mark);
      begin
         Sending.Run (Timeout, Is_Done);
      exception
         when SQL_Error =>
            Time_Limits.End_Request (Mark);  --  the request was not sent
            raise;
      end;
      if not Is_Done then
         Raise_Error ("08001", 0, "the server did not process the cancel request in time");
      end if;
      Time_Limits.End_Request (Mark);
      if Call.Is_Sent = 0 then
         Raise_Error ("08001", 0, First_Line (To_Ada (Call.Message)), From_PostgreSQL);
      end if;
   end Cancel;

   --  BEGIN is sent together with the first statement, or before it if that is not possible

   overriding procedure Begin_Transaction (Self : in out Connection) is
   begin
      Check_Idle (Self.Handle);
      Self.Begins := True;
   end Begin_Transaction;

   procedure Begin_If_Due (Self : in out Connection) is
   begin
      if Self.Begins then
         Self.Begins := False;
         Run (Self.Handle, "BEGIN");
      end if;
   end Begin_If_Due;

   overriding procedure Begin_Isolated
     (Self : in out Connection; Level : Isolation_Level; Mode : Access_Mode)
   is
      Limit : Time_Limits.Operation (Self'Unchecked_Access) with Unreferenced;
   begin
      Run
        (Self.Handle,
         "BEGIN "
         & (case Level is
               when Default_Isolation => "",
               when Read_Committed    => "ISOLATION LEVEL READ COMMITTED ",
               when Repeatable_Read   => "ISOLATION LEVEL REPEATABLE READ ",
               when Serializable      => "ISOLATION LEVEL SERIALIZABLE ")
         & (case Mode is
               when Read_Write => "READ WRITE",
               when Read_Only  => "READ ONLY"));
   end Begin_Isolated;

   --  Zero would mean no limit

   procedure Set_Statement_Limit (Self : in out Connection; Limit : Timeout_Duration)
   is
      Wait         : Time_Limits.Operation (Self'Unchecked_Access) with Unreferenced;
      Least        : constant Integer_64 := (if Limit > 0.0 then 1 else 0);
      Milliseconds : constant Integer_64 := Integer_64'Max (Least, Integer_64 (Limit * 1_000));
   begin
      Begin_If_Due (Self);
      Run (Self.Handle, "SET statement_timeout = " & Image (Milliseconds));
   end Set_Statement_Limit;

   --  The server rolls back instead of committing a failed transaction, and does not report an
   --  error

   overriding procedure Commit (Self : in out Connection)
   is
      Limit : Time_Limits.Operation (Self'Unchecked_Access) with Unreferenced;
   begin
      if Self.Begins then
         Self.Begins := False;
         return;
      end if;
      case transactionStatus (Self.Handle) is
         when Idle =>
            Raise_Error ("25P01", 0, "there is no transaction to commit");
         when In_Error =>
            Raise_Error
              ("25P02", 0, "a statement of the transaction has failed: roll back the transaction");
         when others =>
            Run (Self.Handle, "COMMIT");
      end case;
   end Commit;

   overriding procedure Roll_Back (Self : in out Connection)
   is
      Limit : Time_Limits.Cleanup (Self'Unchecked_Access) with Unreferenced;
   begin
      if Self.Begins then
         Self.Begins := False;
      else
         Run (Self.Handle, "ROLLBACK");
      end if;
   end Roll_Back;

   --  Does the same as DISCARD ALL, except for DEALLOCATE ALL: statements stay prepared

   overriding procedure Reset_Session (Self : in out Connection)
   is
      Limit : Time_Limits.Operation (Self'Unchecked_Access) with Unreferenced;
   begin
      if not Self.In_Autocommit then
         Connection'Class (Self).Roll_Back;
      end if;
      Run
        (Self.Handle,
         "CLOSE ALL; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; UNLISTEN *;"
         & " SELECT pg_advisory_unlock_all(); DISCARD PLANS; DISCARD TEMP; DISCARD SEQUENCES; "
         & Set_UTC);
   end Reset_Session;

   ---------------
   -- Preparing --
   ---------------

   function Name_Of (Number : Statement_Number) return String is
     ("s" & Image (Integer_64 (Number)));

   procedure Release (DB : Connection_Handle; Number : Statement_Number) is
   begin
      Run (DB, "DEALLOCATE " & Name_Of (Number));
   end Release;

   procedure Release_Unused (On : in out Connection'Class) is
   begin
      while not On.Left.Is_Empty
        and then transactionStatus (On.Handle) not in Active | In_Error
      loop
         Release (On.Handle, On.Left.Last_Element);
         On.Left.Delete_Last;
      end loop;
   end Release_Unused;

   --  Initializes the statement before it is attached

   procedure Begin_Statement
     (Self    : in out Statement;
      Number  : Statement_Number;
      Command : String;
      Count   : Natural;
      Format  : int;
      Copies  : Boolean) is
   begin
      Self.Number       := Number;
      Self.Format       := Format;
      Self.Copies       := Copies;
      Self.All_Integers := False;
      Self.Has_Blobs    := False;
      Self.Sends_Blobs  := False;
      Self.Is_Unknown   := False;
      Self.Command    := Strings.New_String (Command);
      Self.Parameters := Count;
      Self.Values     := new Parameter_List'
        (Count   => Count,
         Values  => [1 .. Count => System.Null_Address],
         Lengths => [1 .. Count => 0],
         Formats => [1 .. Count => In_Text],
         Buffers => [1 .. Count => null]);
   end Begin_Statement;

   procedure Check_Text (Text : UTF_8_String) is
   begin
      if Ada.Strings.Fixed.Index (Text, [1 => ASCII.NUL]) > 0 then
         Raise_Error ("42601", 0, "the text contains a NUL");
      end if;
   end Check_Text;

   subtype Integer_Type is Type_Id
     with Static_Predicate => Integer_Type in Type_Int_2 | Type_Int_4 | Type_Int_8;
   subtype Text_Type is Type_Id
     with Static_Predicate => Text_Type in Type_Text | Type_Varchar | Type_Char | Type_Name;

   function Best_Format (Description : Result_Handle) return int is
     (if (for all Column in 0 .. nfields (Description) - 1 =>
            ftype (Description, Column) in Integer_Type | Text_Type | Type_Bytea)
      then In_Binary else In_Text);

   procedure Check (DB : Connection_Handle; Result : Result_Handle) is
   begin
      if resultStatus (Result) /= Command_OK then
         Raise_Failure (DB, Result);
      end if;
   end Check;

   --  Prepares a text under a new name. Description describes the statement's parameters and
   --  columns; the caller must clear it.

   function Backslash_Escapes (DB : Connection_Handle) return Boolean is
     (Value_Of (parameterStatus (DB, To_C ("standard_conforming_strings"))) = "off");

   overriding function Rules_Of_Texts (Self : Connection) return Text_Rules is
     (Has_Backslash_Escapes => Backslash_Escapes (Self.Handle), others => False);

   procedure Prepare_Text
     (On          : in out Connection'Class;
      Text        : String;
      Number      : out Statement_Number;
      Description : out Result_Handle)
   is
      Result : Result_Handle;
   begin
      Number := On.Latest + 1;
      Result := prepare (On.Handle, To_C (Name_Of (Number)), To_C (Text));
      Check (On.Handle, Result);
      clear (Result);
      On.Latest   := Number;
      Description := describePrepared (On.Handle, To_C (Name_Of (Number)));
      Check (On.Handle, Description);
   end Prepare_Text;

   procedure Note_Columns (Self : in out Statement; Description : Result_Handle) is
      Count : constant int := nfields (Description);
   begin
      Self.Format       := Best_Format (Description);
      Self.All_Integers :=
        (for all Column in 0 .. Count - 1 => ftype (Description, Column) in Integer_Type);
      Self.Has_Blobs    :=
        Self.Format = In_Binary
        and then (for some Column in 0 .. Count - 1 => ftype (Description, Column) = Type_Bytea);
   end Note_Columns;

   procedure Prepare
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String)
   is
      Native : constant PostgreSQL_Texts.Native_Text :=
        PostgreSQL_Texts.Native (Text, Backslash_Escapes (On.Handle));
      Limit  : Time_Limits.Operation (On'Unchecked_Access) with Unreferenced;
      Number : Statement_Number;
      Result : Result_Handle;
   begin
      Self.Close;
      Check_Text (Text);
      Check_Idle (On.Handle);
      Release_Unused (On);
      Prepare_Text (On, Native.Text, Number, Result);
      Begin_Statement
        (Self, Number, Name_Of (Number), Natural (nparams (Result)), In_Text,
         Copies => PostgreSQL_Texts.Is_Copy (Text));
      Note_Columns (Self, Result);
      Self.Text := new String'(Native.Text);
      clear (Result);
      Self.Attach (On);
   end Prepare;

   --  Prepares a statement again, after the server has dropped it or can no longer execute it. The
   --  values stay bound.

   procedure Prepare_Again (Self : in out Statement) with No_Inline;
   procedure Prepare_Again (Self : in out Statement) is
      Owner  : Connection renames Connection (Self.Owner.all);
      Number : Statement_Number;
      Result : Result_Handle;
   begin
      if not Self.Is_Unknown then
         Owner.Left.Append (Self.Number);
         Self.Is_Unknown := True;
      end if;
      Release_Unused (Owner);
      Prepare_Text (Owner, Self.Text.all, Number, Result);
      Note_Columns (Self, Result);
      clear (Result);
      Strings.Free (Self.Command);
      Self.Command    := Strings.New_String (Name_Of (Number));
      Self.Number     := Number;
      Self.Is_Stale   := False;
      Self.Is_Unknown := False;
   end Prepare_Again;

   procedure Prepare_Client_Side
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String)
   is
      Native : constant PostgreSQL_Texts.Native_Text :=
        PostgreSQL_Texts.Native (Text, Backslash_Escapes (On.Handle));
   begin
      Self.Close;
      Check_Text (Text);
      Begin_Statement
        (Self, 0, Native.Text, Native.Parameters, In_Text,
         Copies => PostgreSQL_Texts.Is_Copy (Text));
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

   procedure Free is new Ada.Unchecked_Deallocation (String, Buffer_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (Parameter_List, Parameters_Reference);

   --  Skips the remaining rows, which may be followed by an error

   procedure Read_To_End (Self : in out Statement) is
      Owner  : Connection renames Connection (Self.Owner.all);
      DB     : constant Connection_Handle := Owner.Handle;
      Limit  : Time_Limits.Operation (Self.Owner) with Unreferenced;
      Result : Result_Handle;
   begin
      loop
         Result := getResult (DB);
         exit when Result = No_Result;
         if resultStatus (Result) not in Command_OK | Tuples_OK | Single_Row then
            Raise_Failure (DB, Result);
         elsif resultStatus (Result) /= Single_Row then
            Owner.Affected := Affected_By (Result, Before => Owner.Affected);
         end if;
         clear (Result);
      end loop;
      Self.Awaits := False;
      Self.Owner.Gate.Has_Stream := False;
   end Read_To_End;

   procedure Discard_Results (Self : in out Statement) with No_Inline;
   procedure Discard_Results (Self : in out Statement) is
      DB     : constant Connection_Handle := Connection (Self.Owner.all).Handle;
      Limit  : Time_Limits.Cleanup (Self.Owner) with Unreferenced;
      Result : Result_Handle;
   begin
      Self.Awaits := False;
      Self.Owner.Gate.Has_Stream := False;
      loop
         Result := (if DB = No_Connection then No_Result else getResult (DB));
         exit when Result = No_Result;
         clear (Result);
      end loop;
   end Discard_Results;

   procedure Drop_Result (Self : in out Statement) with Inline;
   procedure Drop_Result (Self : in out Statement) is
   begin
      if Self.Awaits then
         Discard_Results (Self);
      end if;
      clear (Self.Result);
      Self.Result  := No_Result;
      Self.Columns := 0;
   end Drop_Result;

   --  Releases a prepared statement. If the connection is lost, the server has already released it;
   --  if the connection is closing, the server soon will.

   procedure Release_From (Owner : in out Connection; Number : Statement_Number)
   is
      Limit : Time_Limits.Cleanup (Owner'Unchecked_Access) with Unreferenced;
   begin
      if Owner.Is_Open then
         Owner.Left.Append (Number);
         Release_Unused (Owner);
      end if;
   exception
      when SQL_Error => null;
   end Release_From;

   overriding procedure Close (Self : in out Statement) is
      Owner  : constant Connection_Reference := Self.Owner;
      Number : constant Statement_Number     := Self.Number;
      Is_Unknown : constant Boolean := Self.Is_Unknown;
   begin
      if not Self.Is_Open then
         return;
      end if;
      Drop_Result (Self);
      Self.Detach;
      for Buffer of Self.Values.Buffers loop
         Free (Buffer);
      end loop;
      Free (Self.Values);
      Free (Self.Text);
      Strings.Free (Self.Command);
      Self.Number := 0;
      if Number > 0 and then not Is_Unknown then
         Release_From (Connection (Owner.all), Number);
      end if;
   end Close;

   -------------
   -- Binding --
   -------------

   Min_Room : constant := 32;
   --  Enough for every number and timestamp

   procedure Bind_Bytes (Self : in out Statement; Parameter : Parameter_Number; Value : String) is
      Buffer : Buffer_Reference renames Self.Values.Buffers (Parameter);
   begin
      if Buffer = null or else Buffer'Length <= Value'Length then
         Free (Buffer);
         Buffer := new String (1 .. Integer'Max (Min_Room, Value'Length + 1));
      end if;
      Buffer (1 .. Value'Length)   := Value;
      Buffer (Value'Length + 1)    := ASCII.NUL;
      Self.Values.Values (Parameter)  := Buffer (1)'Address;
      Self.Values.Formats (Parameter) := In_Text;
      Self.Values.Lengths (Parameter) := int (Value'Length);
   end Bind_Bytes;

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Integer_64) is
   begin
      Bind_Bytes (Self, Parameter, Image (Value));
   end Bind;

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Long_Float) is
   begin
      Bind_Bytes (Self, Parameter, Image (Value));
   end Bind;

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : UTF_8_String) is
   begin
      if Ada.Strings.Fixed.Index (Value, [1 => ASCII.NUL]) > 0 then
         Raise_Error ("22021", 0, "parameter" & Parameter'Image & " contains a NUL");
      end if;
      Bind_Bytes (Self, Parameter, Value);
   end Bind;

   --  A timestamp without a time zone ignores this suffix

   UTC : constant String := "+00";

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Ada.Calendar.Time) is
   begin
      Bind_Bytes (Self, Parameter, Image (To_Moment (Value)) & UTC);
   end Bind;

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Boolean) is
   begin
      Bind_Bytes (Self, Parameter, (if Value then "t" else "f"));
   end Bind;

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Blob)
   is
      Bytes : String (1 .. Value'Length) with Import, Address => Value'Address;
   begin
      Bind_Bytes (Self, Parameter, Bytes);
      Self.Values.Formats (Parameter) := In_Binary;
      Self.Sends_Blobs := True;
   end Bind;

   overriding procedure Bind_Scaled
     (Self      : in out Statement;
      Parameter : Parameter_Number;
      Value     : Integer_64;
      Scale     : Decimal_Scale) is
   begin
      Bind_Bytes (Self, Parameter, Image (Value, Scale));
   end Bind_Scaled;

   overriding procedure Bind_Null (Self : in out Statement; Parameter : Parameter_Number) is
   begin
      Self.Values.Values (Parameter) := System.Null_Address;
   end Bind_Null;

   -------------
   -- Running --
   -------------

   type Connection_Handle_Reference is not null access constant Connection_Handle;

   --  Leaves pipeline mode in every case, even after an error, an exception of the program or an
   --  abort

   type Pipeline (DB : Connection_Handle_Reference) is
     limited new Ada.Finalization.Limited_Controlled with record
      Sends : Boolean := False;
      Syncs : Natural := 0;
   end record;
   --  Sends is True if commands were sent since the last sync

   overriding procedure Finalize (Self : in out Pipeline);

   procedure Send_Sync (Self : in out Pipeline) is
   begin
      if pipelineSync (Self.DB.all) = 0 then
         Raise_Failure (Self.DB.all, No_Result);
      end if;
      Self.Syncs := Self.Syncs + 1;
      Self.Sends := False;
   end Send_Sync;

   --  Reads up to a sync. A null is between the results of two executions.

   procedure Read_To_Sync (Self : in out Pipeline) is
      Result : Result_Handle;
   begin
      while Self.Syncs > 0 and then status (Self.DB.all) = Connection_OK loop
         Result := getResult (Self.DB.all);
         if resultStatus (Result) = Sync then
            Self.Syncs := Self.Syncs - 1;
         end if;
         clear (Result);
      end loop;
   end Read_To_Sync;

   overriding procedure Finalize (Self : in out Pipeline) is
      Ignored : int;
   begin
      if Self.Sends and then pipelineSync (Self.DB.all) /= 0 then
         Self.Syncs := Self.Syncs + 1;
      end if;
      Read_To_Sync (Self);
      Ignored := exitPipelineMode (Self.DB.all);
   end Finalize;

   procedure Note_Failure (Self : in out Statement; Failed : Result_Handle) is
   begin
      Self.Is_Unknown :=
        Self.Number > 0
        and then Value_Of (resultErrorField (Failed, Field_State)) = Unknown_Statement;
      Self.Is_Stale := Self.Is_Unknown or else Has_Stale_Plan (Failed);
   end Note_Failure;

   --  Called after the server has released all prepared statements

   procedure Forget_Statements (Owner : in out Connection) is
      Next : Statement_Reference := Owner.First;
   begin
      Owner.Left.Clear;
      while Next /= null loop
         if Next.all in Statement'Class and then Statement (Next.all).Number > 0 then
            Statement (Next.all).Is_Unknown := True;
            Next.Is_Stale := True;
         end if;
         Next := Next.Next;
      end loop;
   end Forget_Statements;

   --  Checks the result. Afterwards, Self.Result is the result of a statement without rows, or has
   --  rows.

   procedure Take_Result (Self : in out Statement) is
      Owner   : Connection renames Connection (Self.Owner.all);
      Outcome : constant Result_Status := resultStatus (Self.Result);
   begin
      Self.Row := 0;
      if Outcome in Tuples_OK | Single_Row then
         Self.Rows := ntuples (Self.Result);
      elsif Outcome = Command_OK then
         Self.Rows := 0;
      else
         declare
            Failed : constant Result_Handle := Self.Result;
         begin
            Self.Result   := No_Result;
            Note_Failure (Self, Failed);
            if Self.Awaits then
               Discard_Results (Self);
            end if;
            Self.Columns := 0;
            Raise_Failure (Owner.Handle, Failed);
         end;
      end if;
      if Outcome = Command_OK
        and then Strings.Value (To_Chars_Ptr (cmdStatus (Self.Result)))
          in "DEALLOCATE ALL" | "DISCARD ALL"
      then
         Forget_Statements (Owner);
      end if;
      if Outcome /= Single_Row then
         Owner.Affected := Affected_By (Self.Result, Before => Owner.Affected);
         if Self.Awaits then
            Discard_Results (Self);
         end if;
      end if;
   end Take_Result;

   Begin_Text : aliased char_array := To_C ("BEGIN");

   function Is_Begin_Sent (DB : Connection_Handle) return Boolean is
     (sendQueryParams
        (DB, Strings.To_Chars_Ptr (Begin_Text'Access), 0, System.Null_Address, [],
         System.Null_Address, System.Null_Address, In_Text) /= 0);

   function Is_Sent (Self : Statement) return Boolean is
      DB      : constant Connection_Handle := Connection (Self.Owner.all).Handle;
      Count   : constant int := int (Self.Values.Count);
      Lengths : constant System.Address :=
        (if Self.Sends_Blobs then Self.Values.Lengths'Address else System.Null_Address);
      Formats : constant System.Address :=
        (if Self.Sends_Blobs then Self.Values.Formats'Address else System.Null_Address);
   begin
      return
        (if Self.Number > 0
         then sendQueryPrepared
           (DB, Self.Command, Count, Self.Values.Values, Lengths, Formats, Self.Format)
         else sendQueryParams
           (DB, Self.Command, Count, System.Null_Address, Self.Values.Values, Lengths, Formats,
            In_Text)) /= 0;
   end Is_Sent;

   --  Sends BEGIN and the statement in one round trip

   procedure Begin_And_Run (Self : in out Statement) with No_Inline;
   procedure Begin_And_Run (Self : in out Statement) is
      Owner : Connection renames Connection (Self.Owner.all);
      DB    : aliased constant Connection_Handle := Owner.Handle;
      Mode  : Pipeline (DB'Unchecked_Access);
      Begun : Result_Handle;
   begin
      Owner.Begins := False;
      if enterPipelineMode (DB) = 0 then
         Raise_Failure (DB, No_Result);
      end if;
      Mode.Sends := True;
      if not Is_Begin_Sent (DB) or else not Is_Sent (Self) then
         Raise_Failure (DB, No_Result);
      end if;
      Send_Sync (Mode);
      Begun := getResult (DB);
      Check (DB, Begun);
      clear (Begun);
      clear (getResult (DB));
      Self.Result := getResult (DB);
   end Begin_And_Run;

   procedure Run_Once (Self : in out Statement) is
      Owner   : Connection renames Connection (Self.Owner.all);
      Count   : constant int := int (Self.Values.Count);
      Lengths : constant System.Address :=
        (if Self.Sends_Blobs then Self.Values.Lengths'Address else System.Null_Address);
      Formats : constant System.Address :=
        (if Self.Sends_Blobs then Self.Values.Formats'Address else System.Null_Address);
   begin
      if Self.Copies or else Self.Streams then
         Begin_If_Due (Owner);
      end if;
      if Self.Streams and then not Self.Copies then
         Owner.Streams_In_Work := not Owner.In_Autocommit;
         Self.Awaits := Is_Sent (Self) and then setSingleRowMode (Owner.Handle) /= 0;
         Owner.Gate.Has_Stream := Self.Awaits;
         Self.Result := (if Self.Awaits then getResult (Owner.Handle) else No_Result);
      elsif Owner.Begins then
         Begin_And_Run (Self);
      else
         Self.Result :=
           (if Self.Number > 0
            then execPrepared
              (Owner.Handle, Self.Command, Count, Self.Values.Values, Lengths, Formats,
               Self.Format)
            else execParams
              (Owner.Handle, Self.Command, Count, System.Null_Address, Self.Values.Values,
               Lengths, Formats));
      end if;
      Take_Result (Self);
   end Run_Once;

   --  Runs the statement. If the statement's plan is stale, the statement had no effect. If nothing
   --  else was done in the transaction, prepares the statement again and runs it, so the program
   --  does not see the error.

   procedure Run (Self : in out Statement) is
      Owner       : Connection renames Connection (Self.Owner.all);
      Limit       : Time_Limits.Operation (Self.Owner) with Unreferenced;
      Was_Between : constant Boolean := transactionStatus (Owner.Handle) = Idle;
      Begins      : constant Boolean := Owner.Begins;
   begin
      Check_Idle (Owner.Handle);
      Restore_Settings (Owner.Handle);
      if Self.Is_Stale and then transactionStatus (Owner.Handle) /= In_Error then
         Prepare_Again (Self);
      end if;
      Run_Once (Self);
   exception
      when SQL_Error =>
         if not (Self.Is_Stale and then Was_Between and then Owner.Is_Connected) then
            raise;
         elsif Begins then
            Run (Owner.Handle, "ROLLBACK");
            Owner.Begins := True;
         end if;
         Prepare_Again (Self);
         Run_Once (Self);
   end Run;

   --  Waits for the next row of a stream. A ROLLBACK by another statement discards the remaining
   --  rows.

   procedure Await_Row (Self : in out Statement) with No_Inline;
   procedure Await_Row (Self : in out Statement)
   is
      Limit : Time_Limits.Operation (Self.Owner) with Unreferenced;
   begin
      clear (Self.Result);
      Self.Result := getResult (Connection (Self.Owner.all).Handle);
      if Self.Result = No_Result then
         Self.Awaits  := False;
         Self.Columns := 0;
         Raise_Error ("HY010", 0, "the remaining rows of the stream were discarded");
      end if;
      Take_Result (Self);
   end Await_Row;

   overriding function Step (Self : in out Statement) return Boolean is
   begin
      if Self.Result = No_Result then
         Run (Self);
         Self.Columns := Natural (nfields (Self.Result));
      else
         Self.Row := Self.Row + 1;
      end if;
      if Self.Row = Self.Rows and then Self.Awaits then
         Await_Row (Self);
      end if;
      if Self.Row = Self.Rows then
         Drop_Result (Self);
         return False;
      end if;
      return True;
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
      if Self.Awaits then
         Read_To_End (Self);
      end if;
      Drop_Result (Self);
   exception
      when others =>
         Drop_Result (Self);
         raise;
   end Reset;

   overriding procedure Unbind (Self : in out Statement) is
   begin
      Self.Reset;
      Self.Values.Values := [others => System.Null_Address];
   end Unbind;

   -----------------------
   -- Batches and loads --
   -----------------------

   --  Returns the number of rows affected by the next execution

   function Rows_Of_Next (Self : in out Statement) return Integer_64 is
      Owner  : Connection renames Connection (Self.Owner.all);
      Result : constant Result_Handle := getResult (Owner.Handle);
   begin
      if resultStatus (Result) not in Command_OK | Tuples_OK then
         Note_Failure (Self, Result);
         Raise_Failure (Owner.Handle, Result);
      end if;
      Owner.Affected := Affected_By (Result, Before => 0);
      clear (Result);
      clear (getResult (Owner.Handle));
      return Owner.Affected;
   end Rows_Of_Next;

   Max_In_Flight : constant := 500;
   --  The maximum number of executions in one round trip

   procedure Run_In_Pipeline
     (Self    : in out Statement;
      Bind    : not null access procedure
        (To : in out SQL.Statement'Class; Element : Positive);
      Counts  : out Count_List;
      Current : not null access Integer_64)
   is
      Owner : Connection renames Connection (Self.Owner.all);
      DB    : aliased constant Connection_Handle := Owner.Handle;
      Limit : aliased Time_Limits.Operation (Self.Owner);
      Mode  : Pipeline (DB'Unchecked_Access);
      First : Positive := Counts'First;
      Last  : Natural;

      procedure Bind_Next (Element : Positive) is
         Pause : Time_Limits.Suspension (Limit'Access) with Unreferenced;
      begin
         Bind (SQL.Statement'Class (Self), Element);
      end Bind_Next;
   begin
      Check_Idle (DB);
      Restore_Settings (DB);
      Begin_If_Due (Owner);
      if Self.Is_Stale and then transactionStatus (DB) /= In_Error then
         Prepare_Again (Self);
      end if;
      if enterPipelineMode (DB) = 0 then
         Raise_Failure (DB, No_Result);
      end if;
      while First <= Counts'Last loop
         Last := Integer'Min (Counts'Last, First + Max_In_Flight - 1);
         Mode.Sends := True;
         for I in First .. Last loop
            Current.all := Integer_64 (I);
            Bind_Next (I);
            if not Is_Sent (Self) then
               Raise_Failure (DB, No_Result);
            end if;
         end loop;
         Send_Sync (Mode);
         for I in First .. Last loop
            Current.all := Integer_64 (I);
            Counts (I)  := Rows_Of_Next (Self);
         end loop;
         Read_To_Sync (Mode);
         First := Last + 1;
      end loop;
   end Run_In_Pipeline;

   overriding procedure Run_Each
     (Self    : in out Statement;
      Bind    : not null access procedure
        (To : in out SQL.Statement'Class; Element : Positive);
      Counts  : out Count_List;
      Current : not null access Integer_64) is
   begin
      if Self.Copies then
         SQL.Statement (Self).Run_Each (Bind, Counts, Current);
      else
         Run_In_Pipeline (Self, Bind, Counts, Current);
      end if;
   end Run_Each;

   --  Ends an unfinished COPY, even after an abort

   type Copying (DB : Connection_Handle_Reference) is
     limited new Ada.Finalization.Limited_Controlled with null record;

   overriding procedure Finalize (Self : in out Copying);

   overriding procedure Finalize (Self : in out Copying) is
      Reason  : Strings.chars_ptr;
      Result  : Result_Handle;
      Ignored : int;
   begin
      if transactionStatus (Self.DB.all) = Active then
         Reason  := Strings.New_String ("the program did not finish the COPY");
         Ignored := putCopyEnd (Self.DB.all, Reason);
         Strings.Free (Reason);
         loop
            Result := getResult (Self.DB.all);
            exit when Result = No_Result or else status (Self.DB.all) /= Connection_OK;
            clear (Result);
         end loop;
      end if;
   end Finalize;

   --  Returns the line number of an error, as in "COPY t, line 3, column x"; 0 if there is none

   function Line_Of (Result : Result_Handle) return Integer_64 is
      Context : constant String  := Value_Of (resultErrorField (Result, Field_Context));
      Copy    : constant Natural := Ada.Strings.Fixed.Index (Context, "COPY ");
      Mark    : constant String  := ", line ";
      Start   : constant Natural :=
        (if Copy = 0 then 0 else Ada.Strings.Fixed.Index (Context, Mark, From => Copy));
      Number  : Integer_64 := 0;
   begin
      if Start > 0 then
         for C of Context (Start + Mark'Length .. Context'Last) loop
            exit when C not in '0' .. '9';
            Number := Number * 10 + Character'Pos (C) - Character'Pos ('0');
         end loop;
      end if;
      return Number;
   end Line_Of;

   --  Formats bytes in the server's text format for bytea

   function Hexadecimal (Bytes : String) return String is
      Hex_Digits : constant String := "0123456789abcdef";
      Result     : String (1 .. 2 + 2 * Bytes'Length) := [1 => '\', 2 => 'x', others => '0'];
   begin
      for I in Bytes'Range loop
         Result (1 + 2 * I) := Hex_Digits (1 + Character'Pos (Bytes (I)) / 16);
         Result (2 + 2 * I) := Hex_Digits (1 + Character'Pos (Bytes (I)) mod 16);
      end loop;
      return Result;
   end Hexadecimal;

   procedure Put_Row (DB : Connection_Handle; Row : Statement; Line : in out Line_Buffer) is

      function Is_Null (I : Positive) return Boolean is
        (Row.Values.Values (I) = System.Null_Address);
   begin
      Line.Clear;
      for I in 1 .. Row.Values.Count loop
         if I > 1 then
            Line.Put (ASCII.HT);
         end if;
         if Is_Null (I) then
            Line.Put ("\N");
         elsif Row.Values.Formats (I) = In_Binary then
            Line.Put
              ("\" & Hexadecimal
                 (Row.Values.Buffers (I) (1 .. Natural (Row.Values.Lengths (I)))));
         else
            Line.Put_Escaped
              (Row.Values.Buffers (I) (1 .. Natural (Row.Values.Lengths (I))));
         end if;
      end loop;
      Line.Put (ASCII.LF);
      if putCopyData (DB, Line.Bytes.all, int (Line.Last)) /= 1 then
         Raise_Failure (DB, No_Result);
      end if;
   end Put_Row;

   overriding procedure Load_Rows
     (Self           : in out Connection;
      Table, Columns : UTF_8_String;
      Next           : not null access function
        (Row : in out SQL.Statement'Class) return Boolean;
      Current        : not null access Integer_64)
   is
      DB     : aliased constant Connection_Handle := Self.Handle;
      Limit  : aliased Time_Limits.Operation (Self'Unchecked_Access);
      Line   : Line_Buffer;
      Row    : Statement;
      Copy   : Copying (DB'Unchecked_Access) with Unreferenced;
      Result : Result_Handle;

      function Has_Next return Boolean is
         Pause : Time_Limits.Suspension (Limit'Access) with Unreferenced;
      begin
         return Next (Row);
      end Has_Next;
   begin
      Check_Text (Table & Columns);
      Check_Idle (DB);
      Restore_Settings (DB);
      Begin_If_Due (Self);
      Result := exec (DB, To_C ("COPY " & Table & " (" & Columns & ") FROM STDIN"));
      if resultStatus (Result) /= Copy_In then
         Raise_Failure (DB, Result);
      end if;
      Begin_Statement (Row, 0, "", Natural (nfields (Result)), In_Text, Copies => False);
      clear (Result);
      Row.Attach (Self);
      Current.all := 1;
      while Has_Next loop
         Put_Row (DB, Row, Line);
         Current.all := Current.all + 1;
      end loop;
      Current.all := 0;
      if putCopyEnd (DB, Strings.Null_Ptr) /= 1 then
         Raise_Failure (DB, No_Result);
      end if;
      Result := getResult (DB);
      if resultStatus (Result) /= Command_OK then
         Current.all := Line_Of (Result);
         Raise_Failure (DB, Result);
      end if;
      Self.Affected := To_Integer_64 (Value_Of (cmdTuples (Result)), 1);
      Current.all   := Self.Affected;
      clear (Result);
      clear (getResult (DB));
   end Load_Rows;

   -------------
   -- Reading --
   -------------

   overriding function Is_Null (Self : Statement; Column : Column_Number) return Boolean is
     (getisnull (Self.Result, Self.Row, int (Column) - 1) /= 0);

   --  The library returns an empty text for a null, so only empty texts need this check

   procedure Check_Empty (Self : Statement; Column : Column_Number) with No_Inline;
   procedure Check_Empty (Self : Statement; Column : Column_Number) is
   begin
      if Self.Is_Null (Column) then
         Refuse_Null (Column);
      end if;
   end Check_Empty;

   function Is_Binary_Number (Self : Statement; Column : Column_Number) return Boolean is
     (Self.All_Integers
      or else (Self.Format = In_Binary
               and then ftype (Self.Result, int (Column) - 1) in Integer_Type))
     with Inline;

   function Is_Binary_Blob (Self : Statement; Column : Column_Number) return Boolean is
     (Self.Has_Blobs and then ftype (Self.Result, int (Column) - 1) = Type_Bytea)
     with Inline;

   function To_Signed is new Ada.Unchecked_Conversion (Interfaces.Unsigned_32, Integer_32);
   function To_Signed is new Ada.Unchecked_Conversion (Interfaces.Unsigned_64, Integer_64);

   --  Converts a two's complement number in big-endian order. Most have four bytes, which GCC reads
   --  with one instruction.

   function Binary_Number (Bytes : String) return Integer_64 is
      use Interfaces;

      function Byte (I : Positive) return Unsigned_32 is (Character'Pos (Bytes (I))) with Inline;

      Value : Unsigned_64;
   begin
      if Bytes'Length = 4 then
         return Integer_64
           (To_Signed
              (Shift_Left (Byte (1), 24) or Shift_Left (Byte (2), 16)
               or Shift_Left (Byte (3), 8) or Byte (4)));
      end if;
      Value := (if Bytes (Bytes'First) > ASCII.DEL then Unsigned_64'Last else 0);
      for C of Bytes loop
         Value := Shift_Left (Value, 8) or Character'Pos (C);
      end loop;
      return To_Signed (Value);
   end Binary_Number;

   overriding function As_Integer_64
     (Self : Statement; Column : Column_Number) return Integer_64
   is
      Text : String (1 .. Natural (getlength (Self.Result, Self.Row, int (Column) - 1)))
        with Import, Address => getvalue (Self.Result, Self.Row, int (Column) - 1);
   begin
      if Text'Length = 0 then
         Check_Empty (Self, Column);
      end if;
      return
        (if Is_Binary_Number (Self, Column) then Binary_Number (Text)
         else To_Integer_64 (Text, Column));
   end As_Integer_64;

   overriding function As_Text
     (Self : Statement; Column : Column_Number) return UTF_8_String
   is
      Text : String (1 .. Natural (getlength (Self.Result, Self.Row, int (Column) - 1)))
        with Import, Address => getvalue (Self.Result, Self.Row, int (Column) - 1);
   begin
      if Text'Length = 0 then
         Check_Empty (Self, Column);
      end if;
      if Is_Binary_Number (Self, Column) then
         return Image (Binary_Number (Text));
      elsif Is_Binary_Blob (Self, Column) then
         return Hexadecimal (Text);
      end if;
      return Text;
   end As_Text;

   overriding function As_Boolean (Self : Statement; Column : Column_Number) return Boolean is
      Text : constant String := Self.As_Text (Column);
   begin
      if Text in "t" | "true" | "1" then
         return True;
      elsif Text not in "f" | "false" | "0" then
         Raise_Error ("22018", 0, "column" & Column'Image & " is not a Boolean: " & Text);
      end if;
      return False;
   end As_Boolean;

   function To_Blob (Start : System.Address; Length : Natural) return Blob is
      Bytes : Blob (1 .. Ada.Streams.Stream_Element_Offset (Length))
        with Import, Address => Start;
   begin
      return Bytes;
   end To_Blob;

   --  Decodes a bytea in text format. The library supports both of the server's notations.

   function Unescaped (Text : System.Address) return Blob is
      Length : size_t;
      Start  : constant System.Address := unescapeBytea (Text, Length);
   begin
      if Start = System.Null_Address then
         raise Storage_Error with "not enough memory for a blob";
      end if;
      return Result : constant Blob := To_Blob (Start, Natural (Length)) do
         freemem (Start);
      end return;
   end Unescaped;

   overriding function As_Blob (Self : Statement; Column : Column_Number) return Blob is
      Start  : constant System.Address := getvalue (Self.Result, Self.Row, int (Column) - 1);
      Length : constant Natural :=
        Natural (getlength (Self.Result, Self.Row, int (Column) - 1));
   begin
      if Length = 0 then
         Check_Empty (Self, Column);
      end if;
      if Self.Format = In_Text and then ftype (Self.Result, int (Column) - 1) = Type_Bytea then
         return Unescaped (Start);
      elsif Is_Binary_Number (Self, Column) then
         declare
            Text : constant String := Self.As_Text (Column);
         begin
            return To_Blob (Text'Address, Text'Length);
         end;
      else
         return To_Blob (Start, Length);
      end if;
   end As_Blob;

   overriding function As_Integer_32
     (Self : Statement; Column : Column_Number) return Integer_32 is
     (Narrowed (Self.As_Integer_64 (Column), Column));

   overriding function As_Float
     (Self : Statement; Column : Column_Number) return Long_Float is
     (To_Float (Self.As_Text (Column), Column));

   overriding function As_Time
     (Self : Statement; Column : Column_Number) return Ada.Calendar.Time is
     (To_Time (Self.As_Text (Column), Column));

   overriding function As_Scaled
     (Self : Statement; Column : Column_Number; Scale : Decimal_Scale) return Integer_64 is
     (if ftype (Self.Result, int (Column) - 1) in Type_Float_4 | Type_Float_8
      then Rounded (Self.As_Float (Column), Scale, Column)
      else To_Scaled (Self.As_Text (Column), Scale, Column));

   overriding function Column_Name
     (Self : Statement; Column : Column_Number) return UTF_8_String is
     (Value_Of (fname (Self.Result, int (Column) - 1)));

end Appserver.SQL.PostgreSQL;
