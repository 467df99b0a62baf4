--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The Linux and glibc calls for processes (sections 2 and 3 of the manual pages)

pragma Ada_2022;

private package Appserver.Processes.Linux is

   --  If a system call fails, the following subprograms raise Pipe_Error with the reason, unless
   --  their comment names another exception

   procedure Open_Pipe (Reading, Writing : out Descriptor);
   --  Opens a pipe. Both descriptors are closed on exec, and are greater than 2, the last standard
   --  stream.

   procedure Never_Block (File : Descriptor);

   procedure Close (File : in out Descriptor)
     with Post => File = None;

   procedure Read (File : Descriptor; Into : out String; Count : out Integer);
   --  Reads bytes. Sets Count to 0 at the end of the file, and to -1 if there is nothing to read
   --  yet.

   procedure Write (File : Descriptor; Bytes : String; Count : out Integer);
   --  Writes bytes to a pipe. Sets Count to 0 if the pipe is full. Raises Pipe_Error if the other
   --  end of the pipe is closed. Does not cause a SIGPIPE.

   type Stream_List is array (0 .. 2) of Descriptor;
   --  The standard input, output and error of the new program. For None, the program inherits the
   --  stream of this process.

   function Environment return String_List;
   --  Returns a copy of this process's environment, with each variable as NAME=value

   procedure Spawn
     (Program     : String;
      Arguments   : String_List;
      Environment : String_List;
      Directory   : String;
      Streams     : Stream_List;
      Limit       : Integer;
      Id          : out Natural);
   --  Starts a program. Raises Start_Error if the program cannot be started, and Timeout_Error if
   --  the start takes longer than Limit milliseconds; -1 means no limit.

   function Null_Device return Descriptor;

   function Exit_Events (Id : Positive) return Descriptor;

   function Exit_Of (Id : Positive) return Exit_Status;
   --  Waits for the process to exit, reaps it, and returns its status

   procedure Kill (Id : Positive; Signal : Signal_Number; Is_Sent : out Boolean);
   --  Sends the signal to the process group of the started process, and to the started process
   --  itself, in case it has left that group. Sets Is_Sent to False if the started process runs as
   --  another user, so that this process has no permission to send the signal.

   function Has_Group (Id : Positive) return Boolean;
   --  Returns True if the process group of an exited process still has members

   procedure Kill_Rest (Id : Positive; Exits : Descriptor);
   --  Kills the remaining members of the process group of an exited process. Exits is the result of
   --  Exit_Events for the process.

   procedure Abandon (Id : Positive);
   --  Stops waiting for a process that could not be killed. Reap_Abandoned reaps this process
   --  later.

   procedure Reap_Abandoned;
   --  Reaps abandoned processes that have exited, and frees the memory of starts that were
   --  abandoned because they hung

   type Poll_Kind is (Input, Output, Error, Exits);
   type Poll_List is array (Poll_Kind) of Descriptor;
   type Ready_List is array (Poll_Kind) of Boolean;

   procedure Poll (Files : Poll_List; Milliseconds : Natural; Ready : out Ready_List);
   --  Waits for at most Milliseconds until a file is ready. Sets Ready to True for Input if bytes
   --  can be written to it, and for any other file if bytes can be read from it. Ignores files that
   --  are None. May return early even if no file is ready.

end Appserver.Processes.Linux;
