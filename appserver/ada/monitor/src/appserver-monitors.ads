--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Request and query metrics: for each page of a server, and for each query within it, the number
--  of executions, their times, CPU time and errors, and the slowest requests. No count is lost, and
--  no task waits.
--
--     Watched : aliased Monitors.Monitor;
--     …
--     declare
--        Now : aliased Monitors.Timed_Request (Watched'Access);
--     begin
--        Monitors.Start (Now, Method => "GET", Path => "/users/7");
--        …
--        Monitors.Finish (Now, Status => 200);
--     end;
--
--  Appserver.HTTP.Monitoring does this for each request of a server, Appserver.SQL.Monitored for
--  each query. Monitors.JSON, .Prometheus and .HTML write the metrics.

pragma Ada_2022;

with Appserver.Folded_Names;
with Appserver.Histograms;
with Interfaces;

private with Ada.Finalization;
private with Appserver.Atomic_Words;
private with Appserver.Name_Tables;

package Appserver.Monitors is

   pragma Assertion_Policy (Pre => Check);

   subtype Nanoseconds is Interfaces.Unsigned_64;

   function Clock return Nanoseconds with Inline;
   --  @return CLOCK_MONOTONIC

   subtype Stripe_Count is Positive range 1 .. 64;
   --  A power of two. With any other number, some stripes are never used.

   type Monitor
     (Max_Pages   : Positive     := 256;
      Max_Queries : Positive     := 1_024;
      Hours       : Positive     := 840;
      Stripes     : Stripe_Count := 4) is tagged limited private;
   --  Max_Pages and Max_Queries limit the number of names; all further ones count as "(other)". A
   --  query counts once for each page that has it. Hours is the history of each page; the default
   --  is 5 weeks. Tasks write to different stripes, if there are enough; one per core is enough. A
   --  page takes about 10 KB for each stripe and 40 KB for its history and the rest, a query 10 KB.

   type Monitor_Reference is access all Monitor;

   Other : constant String := "(other)";

   No_Request : constant String := "(no request)";
   --  The page of queries outside of requests, each of which counts as one request

   --------------
   -- Requests --
   --------------

   type Timed_Request (Monitor : not null access Monitors.Monitor) is limited private;
   --  A request that the calling task serves. It belongs to one task.

   procedure Start (Self : aliased in out Timed_Request; Method, Path : String);
   --  Starts a request. Until Finish, or the Start of another request, queries of this task count
   --  for it.
   --  @param Self the request
   --  @param Method its method
   --  @param Path its path

   procedure Finish (Self : in out Timed_Request; Status : Natural; Path : String := "");
   --  Counts a request for the page that Set_Page named, or else for that of Method and Path (see
   --  Folded_Names). A new name is accepted only with a status below 400 or from 500 on, so that
   --  clients cannot fill the monitor with names of pages that do not exist.
   --  @param Self the request
   --  @param Status the status code of the response
   --  @param Path the path, whose first 120 bytes are shown if the request is one of the slowest

   procedure Pause (Self : in out Timed_Request);
   procedure Resume (Self : aliased in out Timed_Request);
   --  Suspend the measurement of time in between. Another task may resume the request.
   --  @param Self the request

   procedure Set_Page (Name : String);
   --  Names the page of the request that the calling task serves, if there is one: for names that
   --  do not follow from the path, such as "GET /articles/{slug}".
   --  @param Name the name of the page

   -------------
   -- Queries --
   -------------

   type Query is private;

   function Query_Of (Self : in out Monitor; Text : String) return Query;
   --  Finds the query of an SQL statement.
   --  @param Self the monitor
   --  @param Text the SQL statement
   --  @return the query, whose name is the statement without literals

   procedure Record_Query
     (Self : in out Monitor; Item : Query; Elapsed : Nanoseconds; Is_Failed : Boolean := False);
   --  Counts one execution for the request that the calling task serves.
   --  @param Self the monitor
   --  @param Item the query
   --  @param Elapsed the duration of the execution
   --  @param Is_Failed True if the execution failed

   ----------------
   -- Statistics --
   ----------------

   type Statistics is record
      Count         : Nanoseconds := 0;
      Errors        : Nanoseconds := 0;
      --  Requests with a status from 500 on; of a query, executions that failed
      Client_Errors : Nanoseconds := 0;
      --  Requests with a status from 400 to 499
      Total         : Nanoseconds := 0;
      Max           : Nanoseconds := 0;
      CPU           : Nanoseconds := 0;
      --  Estimated: a thread reads its CPU time for at most one request per millisecond, and that
      --  request stands for those of the page since the last reading
      Times         : Histograms.Histogram := [others => 0];
   end record;
   --  Read while tasks continue to count. Count is the number of values in Times.

   function Page_Statistics (Self : Monitor; Page : String) return Statistics;
   --  @param Self the monitor
   --  @param Page the name of a page
   --  @return its statistics; all zero if there is no such page

   function Query_Statistics (Self : Monitor; Page, Query : String) return Statistics;
   --  @param Self the monitor
   --  @param Page the name of a page
   --  @param Query the name of a query (see Folded_Names)
   --  @return its statistics; all zero if there is no such query

   procedure Add (To : in out Statistics; Other : Statistics);
   --  Adds statistics.
   --  @param To the sum
   --  @param Other the statistics to add

private

   use Atomic_Words;
   use Name_Tables;
   use type Interfaces.Unsigned_64;

   ----------------
   -- Statistics --
   ----------------

   type Counted is limited record
      Count, Errors, Client_Errors : aliased Word := 0;
      Total, Max, CPU              : aliased Word := 0;
      Counted_For_CPU              : aliased Word := 0;
      --  Count at the last addition to CPU
      Times                        : Histograms.Histogram := [others => 0];
   end record
     with Alignment => 128;

   type Counted_Access is access Counted;
   type Counted_List is array (Positive range <>) of aliased Counted;

   type Query_List is array (Natural range <>) of Counted_Access with Atomic_Components;

   -----------
   -- Hours --
   -----------

   --  A page's metrics when an hour began. The metrics of an hour are the difference to the next.

   type Hour_Start is record
      Hour                 : Word := 0;
      --  Hours since 1970
      Count, Errors, Total : Word := 0;
   end record;

   type Hour_List is array (Positive range <>) of Hour_Start;

   --------------
   -- Examples --
   --------------

   Max_Parts        : constant := 8;
   Max_Path_Length  : constant := 120;
   Examples         : constant := 10;
   Keep_Example_For : constant Word := 24 * 3_600;
   --  Seconds

   subtype Query_Number is Natural;
   --  0: other

   type Part_Sum is record
      Number : Query_Number := 0;
      Count  : Word := 0;
      Total  : Word := 0;
   end record;
   --  Executions of one query in a request

   type Part_Sums is array (Positive range <>) of Part_Sum;

   No_CPU : constant Word := Word'Last;

   type Example is record
      Elapsed, Started_Ms, CPU : Word    := 0;
      Status                   : Natural := 0;
      Path_Length              : Natural := 0;
      Path                     : String (1 .. Max_Path_Length) := [others => ' '];
      Part_Count               : Natural := 0;
      Parts                    : Part_Sums (1 .. Max_Parts + 1);
      --  The last is that of all other queries
   end record;

   type Example_Slot is limited record
      Is_Claimed : aliased Word := 0;
      Elapsed    : aliased Word := 0;
      At_Second  : aliased Word := 0;
      Item       : Example;
   end record;
   --  A task claims the slot before it reads or writes Item. A writer does not wait for a slot.

   type Example_Slots is array (1 .. Examples) of Example_Slot;

   -----------
   -- Pages --
   -----------

   type Page (Hour_Count, Max_Queries, Stripes : Natural) is limited record
      Next_Look   : aliased Word := 0;
      --  By Clock: when to check whether the hour is over
      Threshold   : aliased Word := 0;
      --  Slower requests are examples
      Is_Turning  : aliased Word := 0;
      Hour_Number : Natural := 0;
      --  Hours so far
      Hours       : Hour_List (1 .. Hour_Count);
      Statistics  : Counted_List (1 .. Stripes);
      Queries     : Query_List (0 .. Max_Queries) := [others => null];
      Slowest     : Example_Slots;
   end record;

   type Page_Access is access Page;
   type Page_List is array (Natural range <>) of Page_Access with Atomic_Components;

   -----------
   -- Names --
   -----------

   --  New names, one at a time

   protected type Registrar is
      procedure Add_Page
        (Into : in out Monitor'Class; Text : String; Hash : Word; Number : out Natural);
      procedure Add_Query
        (Into : in out Monitor'Class; Text : String; Hash : Word; Number : out Query_Number);
      procedure Add_Pair
        (Into : in out Monitor'Class; On : in out Page; Number : in out Query_Number);
      --  0 if there is no room
   end Registrar;

   type Monitor
     (Max_Pages   : Positive     := 256;
      Max_Queries : Positive     := 1_024;
      Hours       : Positive     := 840;
      Stripes     : Stripe_Count := 4) is
     limited new Ada.Finalization.Limited_Controlled with record
      Page_Names  : Name_Table (Max_Pages);
      Query_Names : Name_Table (Max_Queries);
      Pages       : Page_List (0 .. Max_Pages) := [others => null];
      --  0: other
      Unassigned  : Page_Access;
      --  For queries outside of requests
      Pairs       : aliased Word := 0;
      --  Queries of pages, so far
      Register    : Registrar;
      Started_Ms  : Word := 0;
   end record;

   overriding procedure Initialize (Self : in out Monitor);
   overriding procedure Finalize (Self : in out Monitor);

   type Query is record
      Number : Query_Number := 0;
   end record;

   --------------
   -- Requests --
   --------------

   type Part is record
      Number    : Query_Number;
      Is_Failed : Boolean;
      Elapsed   : Word;
   end record;

   type Part_List is array (1 .. 64) of Part;

   type Timed_Request (Monitor : not null access Monitors.Monitor) is limited record
      Started     : Word := 0;
      Before      : Word := 0;
      --  Nanoseconds before the last Resume
      CPU_Started : Word := No_CPU;
      Part_Count  : Natural := 0;
      Sum_Count   : Natural := 0;
      Name        : Folded_Names.Page_Name;
      Parts       : Part_List;
      Sums        : Part_Sums (1 .. Max_Parts + 1);
   end record;

   --  For the code that writes statistics

   function Unix_Milliseconds return Word;

   function Merged (Item : Page) return Statistics;
   function Merged (Item : Counted) return Statistics;

   function Hours_Of (Item : in out Page) return Hour_List;
   --  The hours that are kept, each with its own metrics, the oldest first

   type Example_List is array (Positive range <>) of Example;

   function Examples_Of (Item : in out Page) return Example_List;
   --  The slowest first

   procedure Visit_Pages
     (Self  : in out Monitor'Class;
      Visit : not null access procedure (Item : in out Page; Name : String));
   --  Calls Visit with each page that had a request

   function Name_Of (Self : Monitor; Number : Query_Number) return String;
   --  The name of a query

end Appserver.Monitors;
