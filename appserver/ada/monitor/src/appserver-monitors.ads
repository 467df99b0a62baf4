--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Request and query metrics: the number of executions, their times, CPU time and errors, for each
--  page of a server and each query of a page, and the slowest requests of each page. No counts are
--  lost, and recording tasks never wait.
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
--  Appserver.HTTP.Monitoring records each request of a server, and Appserver.SQL.Monitored records
--  each query. Monitors.JSON, Monitors.Prometheus and Monitors.HTML write the metrics.

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
   --  @return the time of CLOCK_MONOTONIC, in nanoseconds

   subtype Stripe_Count is Positive range 1 .. 64;
   --  The number of stripes, which should be a power of two. With any other number, some stripes
   --  are never used.

   type Monitor
     (Max_Pages   : Positive     := 256;
      Max_Queries : Positive     := 1_024;
      Hours       : Positive     := 840;
      Stripes     : Stripe_Count := 4) is tagged limited private;
   --  Records requests and their queries. Max_Pages and Max_Queries limit the number of names;
   --  additional names are recorded as "(other)". A query counts once for each page that uses it.
   --  Hours is the length of each page's history; the default is 5 weeks. Stripes reduce
   --  contention, since tasks write to different stripes as far as possible; one stripe per core is
   --  enough. A page uses about 10 KB for each stripe plus 40 KB for its history and other data. A
   --  query uses 10 KB.

   type Monitor_Reference is access all Monitor;

   Other : constant String := "(other)";

   No_Request : constant String := "(no request)";
   --  The page name for queries that run outside any request. Each such query counts as one
   --  request.

   --------------
   -- Requests --
   --------------

   type Timed_Request (Monitor : not null access Monitors.Monitor) is limited private;
   --  A request that the current task is processing. Only one task at a time may use this object.

   procedure Start (Self : aliased in out Timed_Request; Method, Path : String);
   --  Starts a request. The queries of the current task are recorded for this request, until Finish
   --  or until this task starts another request.
   --  @param Self the request
   --  @param Method the method of the request
   --  @param Path the path of the request

   procedure Finish (Self : in out Timed_Request; Status : Natural; Path : String := "");
   --  Records a request for the page that Set_Page named. Without a call to Set_Page, the name of
   --  the page is derived from the method and the path (see Folded_Names). Clients must not be able
   --  to fill the monitor with names of nonexistent pages. So a new name is accepted only if the
   --  status is below 400 or at least 500, but not 501 or 505, and only for GET, HEAD, POST, PUT,
   --  PATCH, DELETE, QUERY and the methods of WebDAV, or from Set_Page.
   --  @param Self the request
   --  @param Status the status code of the response
   --  @param Path the path to show if the request is one of the slowest requests of its page;
   --  truncated to 120 bytes

   procedure Pause (Self : in out Timed_Request);
   procedure Resume (Self : aliased in out Timed_Request);
   --  Exclude the time between Pause and Resume from the measurement. Another task may resume the
   --  request.
   --  @param Self the request

   procedure Set_Page (Name : String);
   --  Sets the page name of the current task's request. Has no effect if the task has no request.
   --  Use this for names that cannot be derived from the path, such as "GET /articles/{slug}".
   --  @param Name the name of the page

   -------------
   -- Queries --
   -------------

   type Query is private;

   function Query_Of
     (Self  : in out Monitor;
      Text  : String;
      Rules : Folded_Names.Text_Rules := (others => <>)) return Query;
   --  Returns the query for an SQL statement.
   --  @param Self the monitor
   --  @param Text the SQL statement
   --  @param Rules the database's rules for the text
   --  @return the query. Its name is the statement without literals.

   procedure Record_Query
     (Self : in out Monitor; Item : Query; Elapsed : Nanoseconds; Is_Failed : Boolean := False);
   --  Records one execution for the current task's request.
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
      --  For a page, the number of requests with a status of 500 or above; for a query, the number
      --  of failed executions
      Client_Errors : Nanoseconds := 0;
      --  The number of requests with a status from 400 to 499
      Total         : Nanoseconds := 0;
      Max           : Nanoseconds := 0;
      CPU           : Nanoseconds := 0;
      --  The estimated CPU time. A thread measures the CPU time of at most one request per
      --  millisecond, and extrapolates from this request to all requests of the page since the
      --  previous measurement.
      Times         : Histograms.Histogram := [others => 0];
   end record;
   --  The statistics of a page or a query, with times in nanoseconds. Since tasks continue to
   --  record while the statistics are read, the components may be from slightly different times.
   --  Count is the number of values in Times.

   function Page_Statistics (Self : Monitor; Page : String) return Statistics;
   --  @param Self the monitor
   --  @param Page the name of a page
   --  @return the statistics of the page; all zero if there is no such page

   function Query_Statistics (Self : Monitor; Page, Query : String) return Statistics;
   --  @param Self the monitor
   --  @param Page the name of a page
   --  @param Query the name of a query (see Folded_Names)
   --  @return the statistics of the query; all zero if there is no such query

   procedure Add (To : in out Statistics; Other : Statistics);
   --  Adds the values of Other to To.
   --  @param To the statistics to add to
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
      --  The value of Count at the last addition to CPU
      Times                        : Histograms.Histogram := [others => 0];
   end record
     with Alignment => 128;

   type Counted_Access is access Counted;
   type Counted_List is array (Positive range <>) of aliased Counted;

   type Query_List is array (Natural range <>) of Counted_Access with Atomic_Components;

   -----------
   -- Hours --
   -----------

   --  The totals of a page at the beginning of an hour. The metrics of an hour are the differences
   --  between the totals at its end and the totals at its beginning.

   type Hour_Start is record
      Hour                 : Word := 0;
      --  The number of the hour since the beginning of 1970
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
   --  The time in seconds for which an example is kept

   subtype Query_Number is Natural;
   --  The number of a query's name in Query_Names; 0 stands for "(other)"

   type Part_Sum is record
      Number : Query_Number := 0;
      Count  : Word := 0;
      Total  : Word := 0;
   end record;
   --  The executions of one query in a request: their number, and their total time in nanoseconds

   type Part_Sums is array (Positive range <>) of Part_Sum;

   No_CPU : constant Word := Word'Last;

   type Example is record
      Elapsed, Started_Ms, CPU : Word    := 0;
      Status                   : Natural := 0;
      Path_Length              : Natural := 0;
      Path                     : String (1 .. Max_Path_Length) := [others => ' '];
      Part_Count               : Natural := 0;
      Parts                    : Part_Sums (1 .. Max_Parts + 1);
      --  Sums of up to Max_Parts queries. An additional element is the sum of all other queries.
   end record;

   type Example_Slot is limited record
      Is_Claimed : aliased Word := 0;
      Elapsed    : aliased Word := 0;
      At_Second  : aliased Word := 0;
      Item       : Example;
   end record;
   --  The slot of an example. A task claims the slot before it reads or writes Item. Writers do not
   --  wait for a slot that another task has claimed.

   type Example_Slots is array (1 .. Examples) of Example_Slot;

   -----------
   -- Pages --
   -----------

   type Page (Hour_Count, Max_Queries, Stripes : Natural) is limited record
      Next_Look   : aliased Word := 0;
      --  The time, as returned by Clock, of the next check of whether a new hour has begun
      Threshold   : aliased Word := 0;
      --  The time in nanoseconds above which a request becomes an example
      Is_Turning  : aliased Word := 0;
      Hour_Number : Natural := 0;
      --  The number of hours that have been stored so far
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

   --  Registers new names, one task at a time

   protected type Registrar is
      procedure Add_Page
        (Into : in out Monitor'Class; Text : String; Hash : Word; Number : out Natural);
      procedure Add_Query
        (Into : in out Monitor'Class; Text : String; Hash : Word; Number : out Query_Number);
      procedure Add_Pair
        (Into : in out Monitor'Class; On : in out Page; Number : in out Query_Number);
      --  Adds a query to a page. Sets Number to 0 if the monitor already has Max_Queries pairs of a
      --  page and a query.
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
      --  The pages, indexed by the numbers of their names. Element 0 is the page "(other)".
      Unassigned  : Page_Access;
      --  The page for queries outside any request
      Pairs       : aliased Word := 0;
      --  The current number of pairs of a page and a query
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
      --  The time measured before the last Resume, in nanoseconds
      CPU_Started : Word := No_CPU;
      Part_Count  : Natural := 0;
      Sum_Count   : Natural := 0;
      May_Add     : Boolean := False;
      --  True if the request may add a page
      Name        : Folded_Names.Page_Name;
      Parts       : Part_List;
      Sums        : Part_Sums (1 .. Max_Parts + 1);
   end record;

   --  Functions for the packages that write statistics

   function Unix_Milliseconds return Word;

   function Merged (Item : Page) return Statistics;
   function Merged (Item : Counted) return Statistics;

   function Hours_Of (Item : in out Page) return Hour_List;
   --  Returns the stored hours, starting with the oldest. Each element contains the metrics of one
   --  hour, not totals.

   type Example_List is array (Positive range <>) of Example;

   function Examples_Of (Item : in out Page) return Example_List;
   --  Returns the page's slowest requests of the last 24 hours, starting with the slowest

   procedure Visit_Pages
     (Self  : in out Monitor'Class;
      Visit : not null access procedure (Item : in out Page; Name : String));
   --  Calls Visit with each page that has recorded a request

   function Name_Of (Self : Monitor; Number : Query_Number) return String;
   --  Returns the name of the query with the number Number; "(other)" for 0

end Appserver.Monitors;
