--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Interfaces.C;
with System.Storage_Elements;

package body Appserver.HTTP.REST.Trees is

   use Interfaces.C;
   use type System.Address;
   use System.Storage_Elements;

   --  memchr of the C library, which compares multiple bytes at a time

   function Memory_Search
     (From : System.Address; Byte : int; Length : size_t)
      return System.Address
     with Import, Convention => C, External_Name => "memchr";

   function Memory_Compare
     (Left, Right : System.Address; Length : size_t) return int
     with Import, Convention => C, External_Name => "memcmp";

   function Address_Of (Path : String; First : Positive) return System.Address is
     (Path'Address + Storage_Offset (First - Path'First))
     with Inline;
   --  First may be after the end of the path

   --  Returns the end of the segment that begins at First: the position of the next "/", or the
   --  position after the path

   function Segment_End (Path : String; First : Positive) return Positive
     with Inline
   is
      Start : constant System.Address := Address_Of (Path, First);
      Slash : constant System.Address :=
        Memory_Search (Start, Character'Pos ('/'), size_t (Path'Last - First + 1));
   begin
      return
        (if Slash = System.Null_Address then Path'Last + 1
         else First + Natural (Slash - Start));
   end Segment_End;

   --  Returns the beginning of the segment that ends before Behind

   function Segment_First (Path : String; Behind : Positive) return Positive is
      First : Positive := Behind;
   begin
      while Path (First - 1) /= '/' loop
         First := First - 1;
      end loop;
      return First;
   end Segment_First;

   -------------
   -- Growing --
   -------------

   Ellipsis : constant String := "...}";

   --  Parses a segment of a pattern: its kind, and its text or name

   procedure Read_Segment
     (Segment : String; Kind : out Segment_Kind; Text : out Span; Valid : out Boolean)
   is
      Is_Name : constant Boolean :=
        Segment'Length > 2
        and then Segment (Segment'First) = '{' and then Segment (Segment'Last) = '}';
      Is_All  : constant Boolean :=
        Is_Name
        and then Segment'Length > Ellipsis'Length + 1
        and then Segment (Segment'Last - Ellipsis'Length + 1 .. Segment'Last) = Ellipsis;
   begin
      Kind :=
        (if Is_All then All_Segments elsif Is_Name then One_Segment else Literal);
      Text :=
        (case Kind is
            when Literal      => (Segment'First, Segment'Last),
            when One_Segment  => (Segment'First + 1, Segment'Last - 1),
            when All_Segments => (Segment'First + 1, Segment'Last - Ellipsis'Length));
      Valid :=
        (if Kind = Literal
         then (for all C of Segment => C not in '{' | '}' | '%')
         else Length (Text) <= Max_Capture_Length
           and then (for all K in Text.First .. Text.Last =>
                       Segment (K) in 'A' .. 'Z' | 'a' .. 'z' | '0' .. '9' | '_'));
   end Read_Segment;

   --  Returns True if a child of the same kind matches the segment. Raises Route_Error if names
   --  differ.

   function Is_For (Child : Node; Kind : Segment_Kind; Text : String) return Boolean is
      Same : constant Boolean := Child.Text (1 .. Child.Length) = Text;
   begin
      if Kind /= Literal and then not Same then
         raise Route_Error with "{" & Text & "} has a different name in another route";
      end if;
      return Same;
   end Is_For;

   --  Finds or adds the child of Parent for a segment. A new text is linked after the others.

   procedure Descend
     (Self : in out Service; Parent : Link; Kind : Segment_Kind; Text : String; To : out Link)
   is
      Before : Link := null;
   begin
      To := Parent.Children (Kind);
      while To /= null loop
         if Is_For (To.all, Kind, Text) then
            return;
         end if;
         Before := To;
         To     := To.Next;
      end loop;
      Self.Count := Self.Count + 1;
      To := Self.Nodes (Self.Count)'Unchecked_Access;
      To.Kind   := Kind;
      To.Start  := (if Text = "" then '/' else Text (Text'First));
      To.Length := Text'Length;
      To.Parent := Parent;
      To.Text (1 .. Text'Length) := Text;
      if Before = null then
         Parent.Children (Kind) := To;
      else
         Before.Next := To;
      end if;
   end Descend;

   procedure Add (Self : in out Service; Route : Path_Route) is
      Pattern : String renames Route.Pattern (1 .. Route.Length);
      First   : Positive := 2;
      Last    : Natural;
      Kind    : Segment_Kind;
      Text    : Span;
      Valid   : Boolean;
      At_Node : Link := Self.Root;
      Below   : Link;
      Names   : Natural := 0;
   begin
      if Route.Length = 0 or else Pattern (1) /= '/' then
         raise Route_Error with "a pattern must begin with ""/"": " & Pattern;
      end if;
      loop
         Last := Segment_End (Pattern, First) - 1;
         Read_Segment (Pattern (First .. Last), Kind, Text, Valid);
         Names := Names + Boolean'Pos (Kind /= Literal);
         if not Valid
           or else (Kind = All_Segments and then Last < Pattern'Last)
           or else Names > Max_Captures
         then
            raise Route_Error with "malformed pattern: " & Pattern;
         end if;
         Descend (Self, At_Node, Kind, Pattern (Text.First .. Text.Last), Below);
         At_Node := Below;
         exit when Last = Pattern'Last;
         First := Last + 2;
      end loop;
      if At_Node.Routes (Route.Method).Kind /= None then
         raise Route_Error with "there are two routes for " & Route.Method'Image & " " & Pattern;
      end if;
      At_Node.Routes (Route.Method) := Route.Handle;
      At_Node.Is_End := True;
   end Add;

   -------------
   -- Finding --
   -------------

   --  Returns the text in List that is equal to a decoded segment

   function Decoded_Child (List : Link; Segment : String) return Link
     with No_Inline
   is
      Text  : constant String := Decoded (Segment);
      Child : Link := List;
   begin
      while Child /= null and then Child.Text (1 .. Child.Length) /= Text loop
         Child := Child.Next;
      end loop;
      return Child;
   end Decoded_Child;

   --  Finds the text in List that is equal to the segment at First, or null, and the end of the
   --  segment. The end is searched for only if no text matches, since the length of each text is
   --  known.

   procedure Find_Text
     (List   : Link;
      Path   : String;
      First  : Positive;
      Child  : out Link;
      Behind : out Positive)
   is
      Start : constant Character := (if First <= Path'Last then Path (First) else '/');
   begin
      Child := List;
      while Child /= null loop
         if Child.Start = Start then
            Behind := First + Child.Length;
            if (if Behind <= Path'Last then Path (Behind) = '/' else Behind = Path'Last + 1)
              and then Memory_Compare
                (Address_Of (Path, First), Child.Text'Address, size_t (Child.Length)) = 0
            then
               return;
            end if;
         end if;
         Child := Child.Next;
      end loop;
      Behind := Segment_End (Path, First);
      if List /= null and then (for some C of Path (First .. Behind - 1) => C = '%') then
         Child := Decoded_Child (List, Path (First .. Behind - 1));
      end if;
   end Find_Text;

   --  Finds the child that captures the segment, among the children that are tried after the kind
   --  Tried; null if there is none

   procedure Find_Name
     (Parent : Link;
      Tried  : Segment_Kind;
      Path   : String;
      First  : Positive;
      Child  : out Link;
      Behind : in out Positive;
      Found  : in out Match) is
   begin
      Child := null;
      if Tried = Literal and then First < Behind then
         Child := Parent.Children (One_Segment);
      end if;
      if Child = null and then First <= Path'Last then
         Child  := Parent.Children (All_Segments);
         Behind := Path'Last + 1;
      end if;
      if Child /= null then
         Found.Count := Found.Count + 1;
         Found.Captured (Found.Count) := (First, Behind - 1);
      end if;
   end Find_Name;

   --  Follows the path through the tree. If it does not lead to a route, backtracks one segment at
   --  a time and tries the other children. A node that matches the rest of a path always has a
   --  route.

   procedure Follow (Root : Link; Path : String; Found : in out Match) is
      At_Node : Link := Root;
      Behind  : Positive := Path'First;
      --  The position after the segments of the path that lead to the node
      First   : Positive;
      Child   : Link;
      Tried   : Segment_Kind;
   begin
      loop
         First := Behind + 1;
         Tried := Literal;
         if Behind <= Path'Last then
            Find_Text (At_Node.Children (Literal), Path, First, Child, Behind);
         elsif At_Node.Is_End then
            Found.Node := At_Node;
            return;
         else
            Child := null;
         end if;
         while Child = null loop
            Find_Name (At_Node, Tried, Path, First, Child, Behind, Found);
            if Child = null then
               if At_Node = Root then
                  return;
               end if;
               Behind  := First - 1;
               First   := Segment_First (Path, Behind);
               Tried   := At_Node.Kind;
               At_Node := At_Node.Parent;
               if Tried = One_Segment then
                  Found.Count := Found.Count - 1;
               end if;
            end if;
         end loop;
         At_Node := Child;
      end loop;
   end Follow;

   procedure Find (Self : Service; Request : HTTP.Request; Found : in out Match) is
      Path : String renames Request.Bytes (Request.Target.First .. Request.Target.Last);
   begin
      if Path'Length > 0 and then Path (Path'First) = '/' then
         Follow (Self.Root, Path, Found);
      end if;
   end Find;

end Appserver.HTTP.REST.Trees;
