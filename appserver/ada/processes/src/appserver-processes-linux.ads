--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The calls of Linux and glibc for processes: sections 2 and 3 of the manual pages

pragma Ada_2022;

private package Appserver.Processes.Linux is

   --  Errors of the system raise Pipe_Error with the reason, unless another exception is named

   procedure Open_Pipe (Reading, Writing : out Descriptor);
   --  Closed on exec, and neither is one of the standard streams

   procedure Never_Block (File : Descriptor);

   procedure Close (File : in out Descriptor)
     with Post => File = None;

   procedure Read (File : Descriptor; Into : out String; Count : out Integer);
   --  Count is 0 at the end, and -1 if there is nothing to read yet

   procedure Write (File : Descriptor; Bytes : String; Count : out Integer);
   --  Count is 0 if the pipe is full. Raises Pipe_Error if its other end is closed; SIGPIPE is
   --  never raised.

   type Stream_List is array (0 .. 2) of Descriptor;
   --  The program's streams. None stands for this process's own.

   function Environment return String_List;
   --  A copy of this process's, each variable as NAME=value

   procedure Spawn
     (Program     : String;
      Arguments   : String_List;
      Environment : String_List;
      Directory   : String;
      Streams     : Stream_List;
      Limit       : Integer;
      Id          : out Natural);
   --  Raises Start_Error if the program cannot be started, and Timeout_Error if that takes longer
   --  than Limit milliseconds. -1 is no limit.

   function Null_Device return Descriptor;

   function Exit_Events (Id : Positive) return Descriptor;

   function Exit_Of (Id : Positive) return Exit_Status;
   --  Waits for the exit, and leaves no zombie

   procedure Kill (Id : Positive; Signal : Signal_Number; Is_Sent : out Boolean);
   --  Sends the signal to the group that the process was started with, and to the process, which
   --  may have left that. Is_Sent is False if this process may not signal it, since it runs as
   --  another user.

   function Has_Group (Id : Positive) return Boolean;
   --  True if the group of a process that has ended still has members

   procedure Kill_Rest (Id : Positive; Exits : Descriptor);
   --  Kills the members of such a group; Exits are the events of the process

   procedure Abandon (Id : Positive);
   --  Stops waiting for the exit of a process that could not be killed

   procedure Reap_Abandoned;
   --  Removes the zombies of abandoned processes that have ended since, and frees the memory of
   --  starts that hung

   type Poll_Kind is (Input, Output, Error, Exits);
   type Poll_List is array (Poll_Kind) of Descriptor;
   type Ready_List is array (Poll_Kind) of Boolean;

   procedure Poll (Files : Poll_List; Milliseconds : Natural; Ready : out Ready_List);
   --  Ready shows which of the files that are not None can be written to (Input) or read from. May
   --  return early with none of them ready.

end Appserver.Processes.Linux;
