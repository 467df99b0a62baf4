--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.HTTP.REST.Trees is

   Root : constant Link := 1;

   --  The first segment of what is left of a path ends before the next "/", or with the path

   function Segment_Last (Rest : String) return Natural is
   begin
      for K in Rest'Range loop
         if Rest (K) = '/' then
            return K - 1;
         end if;
      end loop;
      return Rest'Last;
   end Segment_Last;

   -------------
   -- Growing --
   -------------

   Ellipsis : constant String := "...}";

   --  What a segment of a pattern stands for, and its text or name

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
         else Length (Text) <= Longest_Capture
           and then (for all K in Text.First .. Text.Last =>
                       Segment (K) in 'A' .. 'Z' | 'a' .. 'z' | '0' .. '9' | '_'));
   end Read_Segment;

   --  The child of Parent for the segment; a new one is linked behind those of its kind

   procedure Descend
     (Self : in out Service; Parent : Link; Kind : Segment_Kind; Text : String; To : out Link)
   is
      Before : Link := 0;
      Next   : Link := Self.Nodes (Parent).Child;
   begin
      while Next > 0 and then Self.Nodes (Next).Kind <= Kind loop
         if Self.Nodes (Next).Kind = Kind then
            To := Next;
            if Self.Texts (Self.Nodes (Next).Text.First .. Self.Nodes (Next).Text.Last) = Text then
               return;
            elsif Kind /= Literal then
               raise Route_Error with "{" & Text & "} has another name in another route";
            end if;
         end if;
         Before := Next;
         Next   := Self.Nodes (Next).Next;
      end loop;
      Self.Node_Count := Self.Node_Count + 1;
      To := Self.Node_Count;
      Self.Nodes (To).Kind := Kind;
      Self.Nodes (To).Text := (Self.Text_Length + 1, Self.Text_Length + Text'Length);
      Self.Nodes (To).Next := Next;
      Self.Texts (Self.Text_Length + 1 .. Self.Text_Length + Text'Length) := Text;
      Self.Text_Length := Self.Text_Length + Text'Length;
      if Before = 0 then
         Self.Nodes (Parent).Child := To;
      else
         Self.Nodes (Before).Next := To;
      end if;
   end Descend;

   procedure Add (Self : in out Service; Route : Path_Route) is
      Pattern : String renames Route.Pattern (1 .. Route.Length);
      First   : Positive := 2;
      Last    : Natural;
      Kind    : Segment_Kind;
      Text    : Span;
      Valid   : Boolean;
      At_Node : Link := Root;
      Below   : Link;
      Names   : Natural := 0;
   begin
      if Route.Length = 0 or else Pattern (1) /= '/' then
         raise Route_Error with "a pattern begins with ""/"": " & Pattern;
      end if;
      loop
         Last := Segment_Last (Pattern (First .. Pattern'Last));
         Read_Segment (Pattern (First .. Last), Kind, Text, Valid);
         Names := Names + Boolean'Pos (Kind /= Literal);
         if not Valid
           or else (Kind = All_Segments and then Last < Pattern'Last)
           or else Names > Most_Captures
         then
            raise Route_Error with "malformed pattern: " & Pattern;
         end if;
         Descend (Self, At_Node, Kind, Pattern (Text.First .. Text.Last), Below);
         At_Node := Below;
         exit when Last = Pattern'Last;
         First := Last + 2;
      end loop;
      if Self.Nodes (At_Node).Routes (Route.Method).Kind /= None then
         raise Route_Error with "two routes for " & Route.Method'Image & " " & Pattern;
      end if;
      Self.Nodes (At_Node).Routes (Route.Method) := Route.Handle;
      Self.Nodes (At_Node).Is_End := True;
   end Add;

   -------------
   -- Finding --
   -------------

   --  Not inlined: who calls it need not mark the secondary stack where nothing is encoded

   function Is_Decoded (Segment, Text : String) return Boolean is (Decoded (Segment) = Text)
     with No_Inline;

   --  What is percent-encoded in the path stands for itself in a pattern

   function Is_Text (Segment, Text : String) return Boolean is
     (Segment = Text
      or else (Segment'Length > Text'Length
               and then (for some C of Segment => C = '%')
               and then Is_Decoded (Segment, Text)));

   procedure Note (Found : in out Match; Name : String; Value : Span) is
   begin
      Found.Count := Found.Count + 1;
      Found.Captured (Found.Count).Name_Length := Name'Length;
      Found.Captured (Found.Count).Name (1 .. Name'Length) := Name;
      Found.Captured (Found.Count).First := Value.First;
      Found.Captured (Found.Count).Last := Value.Last;
   end Note;

   --  From the children of At_Node on, along what is left of the path

   procedure Follow
     (Self    : Service;
      Path    : String;
      First   : Positive;
      At_Node : Link;
      Found   : in out Match)
   is
      Last  : constant Natural := Segment_Last (Path (First .. Path'Last));
      Count : constant Natural := Found.Count;
      Child : Link := Self.Nodes (At_Node).Child;
   begin
      while Child > 0 loop
         declare
            Node : REST.Node renames Self.Nodes (Child);
            Kind : constant Segment_Kind := Node.Kind;
            Text : String renames Self.Texts (Node.Text.First .. Node.Text.Last);
            Stop : constant Natural := (if Kind = All_Segments then Path'Last else Last);
            Fits : constant Boolean :=
              (if Kind = Literal then Is_Text (Path (First .. Last), Text) else First <= Stop);
         begin
            if Fits then
               if Kind /= Literal then
                  Note (Found, Text, (First, Stop));
               end if;
               if Stop < Path'Last then
                  Follow (Self, Path, Stop + 2, Child, Found);
               elsif Node.Is_End then
                  Found.Node := Child;
               end if;
               exit when Found.Node > 0;
               Found.Count := Count;
            end if;
            Child := Node.Next;
         end;
      end loop;
   end Follow;

   procedure Find (Self : Service; Request : HTTP.Request; Found : in out Match) is
      Path : String renames Request.Bytes (Request.Target.First .. Request.Target.Last);
   begin
      if Path'Length > 0 and then Path (Path'First) = '/' then
         Follow (Self, Path, Path'First + 1, Root, Found);
      end if;
   end Find;

end Appserver.HTTP.REST.Trees;
