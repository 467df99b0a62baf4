--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  An access log with one line per response. Tasks put lines into memory, without waiting for each
--  other or for the file. Lines that do not fit in memory or cannot be written are dropped and
--  counted.
--
--     Log : aliased HTTP.Access_Logs.Access_Log (Lines => 1_024);
--     …
--     Log.Open ("/var/log/shop.log", HTTP.Access_Logs.Combined);
--     Server.Start (Hello'Access, Options => (Log => Log'Access, others => <>));
--
--  In the server profile, a separate task writes the lines to the file. The embedded profile writes
--  them before it waits for events. Data from clients is escaped, so clients cannot forge lines or
--  break out of quotation marks.

pragma Ada_2022;

with Appserver.HTTP.Dates;
with Appserver.Text_Sinks;

private with Ada.Finalization;
private with Appserver.HTTP.Linux;

package Appserver.HTTP.Access_Logs is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Line_Format is (Common, Combined, JSON);
   --  The format of a line. Common writes 192.0.2.1 - - [22/Nov/2026:23:59:59 +0000] "GET /a?b
   --  HTTP/1.1" 200 12. Combined adds "referer" and "user agent". JSON writes an object with the
   --  members time, client, method, path, query, version, status, bytes, microseconds (the duration
   --  of the handler), referer and user_agent. The client of a Unix socket has the address "unix:".
   --
   --  The time is the time of the response, in UTC. The number of bytes is the length of the
   --  content. If a request was rejected before it was parsed, "-" replaces the request, and JSON
   --  omits the members that describe the request.

   Line_Size : constant := 2_048;
   --  The maximum length of a line, in bytes. Requests and fields that are too long are truncated
   --  and end in "...".

   subtype Line_Count is Positive range 2 .. 2 ** 20;

   type Access_Log (Lines : Line_Count) is tagged limited private;
   --  An access log that buffers up to Lines lines in memory. Initially closed. If the log is not
   --  open when the server starts, the server writes no log.

   type Log_Reference is access all Access_Log;

   Log_Error : exception;
   --  The file cannot be opened. The message of the exception contains the file name.

   type Client_Finder is access function (Request : HTTP.Request) return IP_Addresses.Address;
   --  Returns the client address to log for a request, for example with Proxies.Client_Address

   procedure Open
     (Self   : in out Access_Log;
      Path   : String;
      Format : Line_Format;
      Client : Client_Finder := null)
     with Pre => not Self.Is_Open
                 or else raise Misuse_Error with "the log is open",
          Post => Self.Is_Open;
   --  Opens a file to which lines are appended.
   --  @param Self the log
   --  @param Path the path of the file
   --  @param Format the format of lines
   --  @param Client returns the client address to log; null to log the address of the connection
   --  @exception Log_Error the file cannot be opened, or is a named pipe that no process reads

   procedure Open
     (Self   : in out Access_Log;
      File   : Descriptor;
      Format : Line_Format;
      Client : Client_Finder := null)
     with Pre => (not Self.Is_Open and then File /= No_File)
                 or else raise Misuse_Error with "the log is open, or the file is invalid",
          Post => Self.Is_Open;
   --  Opens the log with an open file, which the log does not close.
   --  @param Self the log
   --  @param File the descriptor of an open file, such as 1 for standard output
   --  @param Format the format of lines
   --  @param Client returns the client address to log; null to log the address of the connection

   procedure Reopen (Self : in out Access_Log)
     with Pre => Self.Is_Open or else raise Misuse_Error with "the log is closed";
   --  Reopens the file by its path before the next line is written, for log rotation by renaming.
   --  Any task and any signal handler may call this procedure. If the new file cannot be opened,
   --  lines are still written to the old file.
   --  @param Self the log

   procedure Close (Self : in out Access_Log)
     with Post => not Self.Is_Open;
   --  Writes the remaining lines and closes the file. Call this only when no server uses the log.
   --  @param Self the log

   function Is_Open (Self : Access_Log) return Boolean;
   --  @param Self the log
   --  @return True between Open and Close

   function Dropped_Lines (Self : Access_Log) return Long_Long_Integer;
   --  @param Self the log
   --  @return the number of dropped lines since Open

   -----------------
   -- For servers --
   -----------------

   procedure Note
     (Self         : in out Access_Log;
      Request      : HTTP.Request;
      Date         : Dates.Date_Text;
      Status       : Status_Number;
      Bytes        : Byte_Count;
      Microseconds : Byte_Count);
   --  Adds a line for the response to a request.
   --  @param Self the log
   --  @param Request the request
   --  @param Date the date of the response
   --  @param Status the status code
   --  @param Bytes the length of the content
   --  @param Microseconds the duration of the handler, in microseconds

   procedure Note_Refusal
     (Self   : in out Access_Log;
      Client : IP_Addresses.Address;
      Date   : Dates.Date_Text;
      Status : Status_Code);
   --  Adds a line for the response to an invalid request.
   --  @param Self the log
   --  @param Client the address of the client
   --  @param Date the date of the response
   --  @param Status the status code

   procedure Write_Out (Self : in out Access_Log; Is_Empty : out Boolean);
   --  Writes as many lines as the file accepts without blocking.
   --  @param Self the log
   --  @param Is_Empty True if all lines were written

private

   type Position is mod 2 ** 64 with Atomic;

   --  A bounded queue with any number of producer tasks. Each producer claims a slot with one
   --  atomic exchange, writes the line to the slot, and publishes it (D. Vyukov, "Bounded MPMC
   --  queue", 2010).

   type Slot is limited record
      Sequence : Position := 0;
      --  The position in the queue of the next line to write to this slot. After the write, the
      --  same position plus 1.
      Line     : Text_Sinks.Text_Buffer (Line_Size);
   end record;

   type Slot_Array is array (Positive range <>) of Slot;

   Max_Path_Length : constant := 4_096;
   --  PATH_MAX of Linux, in bytes

   Batch_Size : constant := 4_096;
   --  PIPE_BUF of Linux, the number of bytes that a ready pipe accepts in one write

   type Access_Log (Lines : Line_Count) is new Ada.Finalization.Limited_Controlled with record
      File        : Descriptor := No_File;
      Owns_File   : Boolean := False;
      Is_Outdated : Boolean := False with Atomic;
      --  True if the file must be reopened
      Path_Length : Natural := 0;
      Format      : Line_Format := Common;
      Client      : Client_Finder := null;
      Next_In     : aliased Position := 0;
      Next_Out    : Position := 0;
      Dropped     : aliased Position := 0;
      Writer      : aliased Linux.Word := 0;
      --  1 while a task writes to the file
      Batch_Lines : Position := 0;
      Batch_First : Positive := 1;
      Batch_Last  : Natural := 0;
      Batch       : String (1 .. Batch_Size);
      Path        : String (1 .. Max_Path_Length);
      Slots       : Slot_Array (1 .. Lines);
   end record;

   overriding procedure Finalize (Self : in out Access_Log);

   function Is_Open (Self : Access_Log) return Boolean is (Self.File /= No_File);
   function Dropped_Lines (Self : Access_Log) return Long_Long_Integer is
     (Long_Long_Integer (Self.Dropped));

end Appserver.HTTP.Access_Logs;
